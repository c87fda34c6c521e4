#!/usr/bin/env python3
"""Adds files of records up: `add_up.py duckdb|spark OUT IN.parquet...`

It runs sum.sql in the engine, after naming the input `records`. DuckDB writes
one file, Spark a folder of files. Needs `pip install duckdb` or
`pip install pyspark` and Java.
"""

import sys
from pathlib import Path

STATEMENT = Path(__file__).with_name("sum.sql").read_text()


def duckdb(target: str, sources: list[str]) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.read_parquet(sources).create_view("records")
    connection.sql(STATEMENT).write_parquet(target)


def spark(target: str, sources: list[str]) -> None:
    from pyspark.sql import SparkSession

    # Two workers in this process, no network.
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.read.parquet(*sources).createOrReplaceTempView("records")
    session.sql(STATEMENT).write.parquet(target)
    session.stop()


if __name__ == "__main__":
    _, engine, target, *sources = sys.argv
    {"duckdb": duckdb, "spark": spark}[engine](target, sources)
