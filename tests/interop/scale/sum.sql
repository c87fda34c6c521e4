SELECT key, move,
       CAST(SUM(games) AS BIGINT) AS games,
       CAST(SUM(wins) AS BIGINT) AS wins,
       CAST(SUM(draws) AS BIGINT) AS draws,
       CAST(SUM(losses) AS BIGINT) AS losses,
       CAST(SUM(own_rated) AS BIGINT) AS own_rated,
       CAST(SUM(own_sum) AS BIGINT) AS own_sum,
       CAST(SUM(other_rated) AS BIGINT) AS other_rated,
       CAST(SUM(other_sum) AS BIGINT) AS other_sum,
       CAST(SUM(main) AS BIGINT) AS main
FROM records
GROUP BY key, move
