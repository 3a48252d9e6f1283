/**
 * The sources of the development chain's contracts as standard JSON, with the compilers and settings of their
 * code. Uniswap's npm packages contain no sources of the V3 contracts, so these have no entry.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';

import { AppError } from '../../errors';
import { contractsFolder, findPackageFile } from '../packageFiles';
import { withPulseFee } from './uniswapEdits';

type SourceFiles = Readonly<Record<string, { readonly content: string }>>;

export interface SourceSet {
  /** Version of solc, such as `0.8.30`. */
  readonly compiler: string;
  readonly input: {
    readonly language: 'Solidity';
    readonly sources: SourceFiles;
    readonly settings: Readonly<Record<string, unknown>>;
  };
}

const V2_CORE = '@uniswap/v2-core/';
const V2_PERIPHERY = '@uniswap/v2-periphery/';
export const PAIR_FILE = 'contracts/UniswapV2Pair.sol';
export const FACTORY_FILE = 'contracts/UniswapV2Factory.sol';
export const ROUTER_FILE = 'contracts/UniswapV2Router02.sol';
const UNISWAP_SETTINGS = { optimizer: { enabled: true, runs: 999_999 }, evmVersion: 'istanbul' };
const OWN_SETTINGS = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: 'shanghai',
  metadata: { bytecodeHash: 'none' },
};
/** Limit of the files of one set. The largest set, the router, has 11. */
const FILES_MAX = 100;

/** The project's own contracts. */
export function readOwnSources(): SourceSet {
  const files = readdirSync(contractsFolder()).filter((name) => name.endsWith('.sol'));
  const sources = files.map((name) => [name, { content: read(join(contractsFolder(), name)) }] as const);
  return setOf('0.8.30', Object.fromEntries(sources), OWN_SETTINGS);
}

/** Uniswap's pair and factory; `edited` selects the versions with PulseX's fee. */
export function readCoreSources(edited: boolean): SourceSet {
  return setOf('0.5.16', collect(V2_CORE, [FACTORY_FILE, PAIR_FILE], edited), UNISWAP_SETTINGS);
}

/** Uniswap's V2 router; `edited` selects the version with PulseX's fee. */
export function readRouterSources(edited: boolean): SourceSet {
  return setOf('0.6.6', collect(V2_PERIPHERY, [ROUTER_FILE], edited), UNISWAP_SETTINGS);
}

function setOf(compiler: string, sources: SourceFiles, settings: SourceSet['input']['settings']): SourceSet {
  return { compiler, input: { language: 'Solidity', sources, settings } };
}

/**
 * Reads files and all files that they import. The code contains a hash of the source paths, so the paths must be
 * the original ones. Paths of the package `home` start with `contracts/`.
 */
function collect(home: string, firstPaths: readonly string[], edited: boolean): SourceFiles {
  const sources: Record<string, { content: string }> = {};
  const waitingPaths = [...firstPaths];
  for (let path = waitingPaths.pop(); path !== undefined; path = waitingPaths.pop()) {
    if (sources[path] !== undefined) continue;
    const original = read(findPackageFile(path.startsWith('@') ? path : home + path));
    const content = edited ? withPulseFee(path, original) : original;
    sources[path] = { content };
    waitingPaths.push(...listImports(path, content));
    if (Object.keys(sources).length > FILES_MAX)
      throw new AppError('internal', `${firstPaths.join(', ')} import more than ${FILES_MAX} files`);
  }
  return sources;
}

/** Paths of the files that a source imports, as the compiler names them. */
function listImports(from: string, content: string): string[] {
  return [...content.matchAll(/^import\s+['"]([^'"]+)['"];/gm)].map(([, path = '']) =>
    path.startsWith('.') ? posix.join(posix.dirname(from), path) : path,
  );
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
