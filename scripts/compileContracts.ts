/**
 * Recompiles src/dev/contracts/*.json, the contracts of the development chain that no npm package contains. The
 * compilers are not dependencies, because only a change of a contract needs them:
 *
 *   npm install --prefix <folder outside of the project> \
 *     solc5@npm:solc@0.5.16 solc6@npm:solc@0.6.6 solc8@npm:solc@0.8.30
 *   node scripts/build.mjs --tools && node build/scripts/compileContracts.js <that folder> [--check]
 *
 * With --check the script writes no file, and exits 1 if a checked-in file differs from the compiled one.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { keccak256 } from 'ethers';

import { AppError } from '../src/errors';
import { findPackageRoot } from '../src/clickhouse/client/packageRoot';
import { readPackageBytecode } from '../src/dev/packageFiles';

type CompilerName = 'solc5' | 'solc6' | 'solc8';
type Sources = Record<string, { content: string }>;
type Compile = (input: string, callbacks: { import: (path: string) => { contents: string } }) => string;

interface Compiled {
  readonly bytecode: string;
  readonly runtimeBytecode: string;
}

const VERSIONS = { solc5: '0.5.16', solc6: '0.6.6', solc8: '0.8.30' } as const;
const V2_CORE = '@uniswap/v2-core/';
const V2_PERIPHERY = '@uniswap/v2-periphery/';
const PAIR = 'contracts/UniswapV2Pair.sol';
const FACTORY = 'contracts/UniswapV2Factory.sol';
const ROUTER = 'contracts/UniswapV2Router02.sol';
const LIBRARY = 'contracts/libraries/UniswapV2Library.sol';
const OWN_CONTRACTS = [
  'DevToken',
  'OddToken',
  'TrickToken',
  'WrappedNative',
  'DevMulticall3',
  'DevTrader',
] as const;

/** The hash of the pair's creation code that the npm package's router expects. */
const UNISWAP_PAIR_HASH = '96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f';

/** Edits that change Uniswap's 30 basis points to PulseX's 29, in the pair and in the router's quotes. */
const PAIR_EDITS = [
  ['amount0In.mul(3)', 'amount0In.mul(29)'],
  ['amount1In.mul(3)', 'amount1In.mul(29)'],
  ['balance0.mul(1000).sub', 'balance0.mul(10000).sub'],
  ['balance1.mul(1000).sub', 'balance1.mul(10000).sub'],
  ['mul(1000**2)', 'mul(10000**2)'],
] as const;
const LIBRARY_EDITS = [
  ['amountIn.mul(997)', 'amountIn.mul(9971)'],
  ['reserveIn.mul(1000)', 'reserveIn.mul(10000)'],
  ['mul(amountOut).mul(1000)', 'mul(amountOut).mul(10000)'],
  ['sub(amountOut).mul(997)', 'sub(amountOut).mul(9971)'],
] as const;

const root = findPackageRoot();

function readPackageSource(path: string): string {
  return readFileSync(join(root, 'node_modules', path), 'utf8');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function loadCompiler(folder: string, name: CompilerName): Compile {
  const loaded: unknown = createRequire(join(folder, 'package.json'))(name);
  if (
    !isRecord(loaded) ||
    typeof loaded['compile'] !== 'function' ||
    typeof loaded['version'] !== 'function'
  ) {
    throw new AppError('bad_config', `${name} in ${folder} is not a Solidity compiler`);
  }
  const version = String(loaded['version']());
  if (!version.startsWith(`${VERSIONS[name]}+`)) {
    throw new AppError('bad_config', `${name}: got version ${version}, expected ${VERSIONS[name]}`);
  }
  const { compile } = loaded;
  return (input, callbacks) => String(compile(input, callbacks));
}

function edit(text: string, edits: Edits): string {
  return edits.reduce((edited, [from, to]) => {
    if (edited.split(from).length !== 2)
      throw new AppError('internal', `the source must contain "${from}" exactly once`);
    return edited.replace(from, to);
  }, text);
}

type Edits = readonly (readonly [string, string])[];

/**
 * The input for the compilation of one contract. The code contains a hash of the source paths, so the paths must be
 * the original ones. The paths of Uniswap start with `contracts/`.
 */
interface Job {
  readonly compile: Compile;
  readonly sources: Sources;
  /** The npm package to which source paths without a package name belong, such as `contracts/…`. */
  readonly home: string;
  readonly settings: Record<string, unknown>;
}

/** Compiles one file; throws with the compiler's message on an error. */
function compileFile(job: Job, file: string, contract: string): Compiled {
  const outputSelection = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } };
  const input = {
    language: 'Solidity',
    sources: job.sources,
    settings: { ...job.settings, outputSelection },
  };
  const find = (path: string): { contents: string } => ({
    contents: readPackageSource(path.startsWith('@') ? path : job.home + path),
  });
  const output: unknown = JSON.parse(job.compile(JSON.stringify(input), { import: find }));
  if (!isRecord(output)) throw new AppError('internal', 'the output of the compiler is not a JSON object');
  const messages = Array.isArray(output['errors']) ? output['errors'] : [];
  const errors = messages.filter((message) => isRecord(message) && message['severity'] === 'error');
  if (errors.length > 0) throw new AppError('internal', JSON.stringify(errors, null, 2));
  const path = ['contracts', file, contract, 'evm'];
  const evm = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), output);
  return { bytecode: objectOf(evm, 'bytecode'), runtimeBytecode: objectOf(evm, 'deployedBytecode') };
}

function objectOf(evm: unknown, key: string): string {
  const code = isRecord(evm) ? evm[key] : undefined;
  const object = isRecord(code) ? code['object'] : undefined;
  if (typeof object !== 'string' || object === '')
    throw new AppError('internal', `the output of the compiler has no ${key}`);
  return `0x${object}`;
}

/** The expected content of each file in src/dev/contracts, by file name. */
function compileAll(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  const write = (name: string, compiler: CompilerName, { settings }: Job, code: Compiled): void => {
    const content = { contract: name, compiler: VERSIONS[compiler], settings, ...code };
    files.set(`${name}.json`, `${JSON.stringify(content, null, 1)}\n`);
  };
  const own = ownJob(loadCompiler(folder, 'solc8'));
  for (const name of OWN_CONTRACTS) write(name, 'solc8', own, compileFile(own, `${name}.sol`, name));

  const solc5 = loadCompiler(folder, 'solc5');
  expectPublished(
    compileFile(coreJob(solc5, []), PAIR, 'UniswapV2Pair'),
    `${V2_CORE}build/UniswapV2Pair.json`,
  );
  const core = coreJob(solc5, PAIR_EDITS);
  const pair = compileFile(core, PAIR, 'UniswapV2Pair');
  write('PulseDevFactory', 'solc5', core, compileFile(core, FACTORY, 'UniswapV2Factory'));

  const solc6 = loadCompiler(folder, 'solc6');
  const published = `${V2_PERIPHERY}build/UniswapV2Router02.json`;
  expectPublished(compileFile(peripheryJob(solc6, []), ROUTER, 'UniswapV2Router02'), published);
  const hashEdit = [UNISWAP_PAIR_HASH, keccak256(pair.bytecode).slice(2)] as const;
  const periphery = peripheryJob(solc6, [...LIBRARY_EDITS, hashEdit]);
  write('PulseDevRouter02', 'solc6', periphery, compileFile(periphery, ROUTER, 'UniswapV2Router02'));
  return files;
}

function ownJob(compile: Compile): Job {
  const sources = Object.fromEntries(
    OWN_CONTRACTS.map((name) => {
      return [`${name}.sol`, { content: readFileSync(join(contractsFolder(), `${name}.sol`), 'utf8') }];
    }),
  );
  const optimizer = { enabled: true, runs: 200 };
  const settings = { optimizer, evmVersion: 'shanghai', metadata: { bytecodeHash: 'none' } };
  return { compile, sources, home: '', settings };
}

const UNISWAP_SETTINGS = { optimizer: { enabled: true, runs: 999_999 }, evmVersion: 'istanbul' };

function coreJob(compile: Compile, pairEdits: Edits): Job {
  const sources = {
    [FACTORY]: { content: readPackageSource(V2_CORE + FACTORY) },
    [PAIR]: { content: edit(readPackageSource(V2_CORE + PAIR), pairEdits) },
  };
  return { compile, sources, home: V2_CORE, settings: UNISWAP_SETTINGS };
}

function peripheryJob(compile: Compile, libraryEdits: Edits): Job {
  const sources = {
    [ROUTER]: { content: readPackageSource(V2_PERIPHERY + ROUTER) },
    [LIBRARY]: { content: edit(readPackageSource(V2_PERIPHERY + LIBRARY), libraryEdits) },
  };
  return { compile, sources, home: V2_PERIPHERY, settings: UNISWAP_SETTINGS };
}

/** Unedited sources must compile to the published code. Otherwise the compiler or the settings are not Uniswap's. */
function expectPublished({ bytecode }: Compiled, artifact: string): void {
  if (bytecode !== readPackageBytecode(artifact)) {
    throw new AppError(
      'internal',
      `the compiled code differs from ${artifact}: check the compiler and its settings`,
    );
  }
}

function contractsFolder(): string {
  return join(root, 'src', 'dev', 'contracts');
}

/** Writes the files, or with `check` lists the files that differ. Returns the exit code. */
function main(folder: string | undefined, check: boolean): number {
  if (folder === undefined)
    throw new AppError(
      'bad_config',
      'the argument is missing: the folder with the packages solc5, solc6 and solc8',
    );
  const files = compileAll(folder);
  const known = readdirSync(contractsFolder()).filter((name) => name.endsWith('.json'));
  const stray = known.filter((name) => !files.has(name));
  const changed = [...files].filter(([name, text]) => {
    return !known.includes(name) || readFileSync(join(contractsFolder(), name), 'utf8') !== text;
  });
  if (!check) for (const [name, text] of changed) writeFileSync(join(contractsFolder(), name), text);
  process.stdout.write(
    `${files.size} contracts compiled; changed: ${changed.map(([name]) => name).join(' ') || 'none'}\n`,
  );
  if (stray.length > 0) process.stdout.write(`files without a source: ${stray.join(' ')}\n`);
  return check && (changed.length > 0 || stray.length > 0) ? 1 : 0;
}

if (require.main === module) {
  process.exitCode = main(process.argv[2], process.argv.includes('--check'));
}
