/**
 * The sources of the development chain's contracts as standard JSON, with the compilers and settings of their
 * code. Uniswap's npm packages contain no sources of the V3 contracts, so these have no entry.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';

import { AppError } from '../../errors';
import { contractsFolder, findPackageFile } from '../packageFiles';

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
  return toSourceSet('0.8.30', Object.fromEntries(sources), OWN_SETTINGS);
}

/** Uniswap's pair and factory; `isEdited` selects the versions with PulseX's fee. */
export function readCoreSources(isEdited: boolean): SourceSet {
  return toSourceSet(
    '0.5.16',
    collectSources(V2_CORE, [FACTORY_FILE, PAIR_FILE], isEdited),
    UNISWAP_SETTINGS,
  );
}

/** Uniswap's V2 router; `isEdited` selects the version with PulseX's fee. */
export function readRouterSources(isEdited: boolean): SourceSet {
  return toSourceSet('0.6.6', collectSources(V2_PERIPHERY, [ROUTER_FILE], isEdited), UNISWAP_SETTINGS);
}

function toSourceSet(
  compiler: string,
  sources: SourceFiles,
  settings: SourceSet['input']['settings'],
): SourceSet {
  return { compiler, input: { language: 'Solidity', sources, settings } };
}

/**
 * Reads files and all files that they import. The code contains a hash of the source paths, so the paths must be
 * the original ones. Paths of the package `packageName` start with `contracts/`.
 */
function collectSources(packageName: string, firstPaths: readonly string[], isEdited: boolean): SourceFiles {
  const sources: Record<string, { content: string }> = {};
  const waitingPaths = [...firstPaths];
  for (let path = waitingPaths.pop(); path !== undefined; path = waitingPaths.pop()) {
    if (sources[path] !== undefined) continue;
    const original = read(findPackageFile(path.startsWith('@') ? path : packageName + path));
    const content = isEdited ? withPulseFee(path, original) : original;
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

/**
 * The edits that turn Uniswap's V2 sources, with 30 basis points, into PulseX's 29 basis points. scripts/compileContracts.ts
 * compiles the edited sources, and the verification of the development chain's contracts shows them.
 */
type Edits = readonly (readonly [from: string, to: string])[];

/** Hashes of the creation code of Uniswap's and of the edited pair. A router contains one, to compute addresses of pools. */
const UNISWAP_PAIR_HASH = '96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f';
export const PULSE_DEV_PAIR_HASH = 'a678f8b08ffca14b6cedff9ee3466d39360ac602214632d811dd3775328be306';

const EDITS: Readonly<Record<string, Edits>> = {
  'contracts/UniswapV2Pair.sol': [
    ['amount0In.mul(3)', 'amount0In.mul(29)'],
    ['amount1In.mul(3)', 'amount1In.mul(29)'],
    ['balance0.mul(1000).sub', 'balance0.mul(10000).sub'],
    ['balance1.mul(1000).sub', 'balance1.mul(10000).sub'],
    ['mul(1000**2)', 'mul(10000**2)'],
  ],
  'contracts/libraries/UniswapV2Library.sol': [
    ['amountIn.mul(997)', 'amountIn.mul(9971)'],
    ['reserveIn.mul(1000)', 'reserveIn.mul(10000)'],
    ['mul(amountOut).mul(1000)', 'mul(amountOut).mul(10000)'],
    ['sub(amountOut).mul(997)', 'sub(amountOut).mul(9971)'],
    [UNISWAP_PAIR_HASH, PULSE_DEV_PAIR_HASH],
  ],
};

/** The content of a source file with PulseX's fee. Files without an edit stay as they are. */
function withPulseFee(path: string, content: string): string {
  return (EDITS[path] ?? []).reduce((editedContent, [from, to]) => {
    if (editedContent.split(from).length !== 2)
      throw new AppError('internal', `the source ${path} must contain "${from}" exactly once`);
    return editedContent.replace(from, to);
  }, content);
}
