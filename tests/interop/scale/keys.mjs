// Prints the version of hyparquet, and a digest of the keys that it reads: see case_scale.py.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, file] = process.argv.slice(2);
const resolve = createRequire(`${modules}/`).resolve;
const { parquetReadObjects, asyncBufferFromFile } = await import(pathToFileURL(resolve('hyparquet')));
const rows = await parquetReadObjects({
  file: await asyncBufferFromFile(file),
  columns: ['key'],
  utf8: false,
});
const digest = createHash('sha256');
for (const { key } of rows) digest.update(Buffer.from([key.length, ...key]));
const { version } = JSON.parse(readFileSync(`${modules}/hyparquet/package.json`));
console.log(version, digest.digest('hex'));
