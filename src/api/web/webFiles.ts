/**
 * Loads the build of `scripts/buildWeb.mjs` into memory: the pages and the assets. The folder name of the assets is a
 * hash of all assets, so browsers can cache an asset forever and modules can import each other by plain names.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { etagOf } from '../etag';

/** Placeholder in the pages for the name of the assets folder. */
const ASSETS_MARK = '__ASSETS__';
const HASH_DIGITS = 16;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file in one encoding (plain or compressed), ready to send. */
interface WebBody {
  readonly body: Buffer;
  readonly etag: string;
}

export interface WebFile {
  /** Path of the file below the folder of the build, such as `core/api.js`. */
  readonly name: string;
  readonly type: string;
  readonly plain: WebBody;
  readonly gzip: WebBody;
}

export interface WebFiles {
  /** URL path of the assets: `/assets/<hash>`. */
  readonly assetsPath: string;
  readonly assets: readonly WebFile[];
  /** Pages by file name, such as `index.html`. */
  readonly pages: ReadonlyMap<string, WebFile>;
}

/** Loads the built files from a folder; null if there is no build. */
export function loadWebFiles(folder: string): WebFiles | null {
  if (!existsSync(join(folder, 'index.html'))) return null;
  const names = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(
    (name) => extname(name) in TYPES,
  );
  const readFile = (name: string): Buffer => readFileSync(join(folder, name));
  const isPage = (name: string): boolean => name.endsWith('.html');
  const assetNames = names.filter((name) => !isPage(name)).sort();
  const hash = createHash('sha256');
  for (const name of assetNames) hash.update(`${name}\n`).update(readFile(name));
  const assetsPath = `/assets/${hash.digest('hex').slice(0, HASH_DIGITS)}`;
  const pages = names.filter(isPage).map((name): [string, WebFile] => {
    const text = readFile(name).toString().replaceAll(ASSETS_MARK, assetsPath);
    return [name, toWebFile(name, Buffer.from(text))];
  });
  return {
    assetsPath,
    assets: assetNames.map((name) => toWebFile(name, readFile(name))),
    pages: new Map(pages),
  };
}

function toWebFile(name: string, bytes: Buffer): WebFile {
  const gzippedBytes = gzipSync(bytes, { level: 9 });
  return {
    name,
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    plain: { body: bytes, etag: etagOf(bytes) },
    gzip: { body: gzippedBytes, etag: etagOf(gzippedBytes) },
  };
}

/** The same file with another text. */
export function withText({ name }: WebFile, text: string): WebFile {
  return toWebFile(name, Buffer.from(text));
}
