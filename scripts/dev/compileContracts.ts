/**
 * Reproduces scripts/dev/contracts/*.json, the compiled contracts of the development chain that no npm package has. The
 * compilers are not dependencies, since only a change of a contract needs them:
 *
 *   npm install --prefix <folder outside of the project> \
 *     solc5@npm:solc@0.5.16 solc6@npm:solc@0.6.6 solc8@npm:solc@0.8.30
 *   npm run build && node dist/scripts/dev/compileContracts.js <that folder> [--check]
 *
 * With --check nothing is written: it exits 1 when a checked-in file differs from what the compilers make.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { keccak256 } from 'ethers';

import { AppError } from '../../src/errors';
import { findPackageRoot } from './packageFiles';

type CompilerName = 'solc5' | 'solc6' | 'solc8';
type Sources = Record<string, { content: string }>;
type Compile = (input: string, callbacks: { import: (path: string) => { contents: string } }) => string;

interface Compiled {
  readonly bytecode: string;
  readonly runtimeBytecode: string;
}

const VERSIONS = { solc5: '0.5.16', solc6: '0.6.6', solc8: '0.8.30' } as const;
const V2_CORE = '@uniswap/v2-core/contracts/';
const V2_PERIPHERY = '@uniswap/v2-periphery/contracts/';
const OWN_CONTRACTS = ['DevToken', 'OddToken', 'WrappedNative', 'DevMulticall3', 'DevTrader'] as const;

/** The hash of the pair's creation code that the router of the npm package was compiled with. */
const UNISWAP_PAIR_HASH = '96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f';

/** What turns Uniswap's 30 basis points into PulseX's 29, in the pair and in the router's own quotes. */
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
    throw new AppError('bad_config', `${name} is ${version}, not ${VERSIONS[name]}`);
  }
  const { compile } = loaded;
  return (input, callbacks) => String(compile(input, callbacks));
}

function edit(text: string, edits: readonly (readonly [string, string])[]): string {
  return edits.reduce((edited, [from, to]) => {
    if (edited.split(from).length !== 2)
      throw new AppError('internal', `"${from}" does not stand once in the source`);
    return edited.replace(from, to);
  }, text);
}

/** Compiles one file; throws with the compiler's text on an error. Imports come from node_modules. */
function compileFile(
  compile: Compile,
  sources: Sources,
  file: string,
  contract: string,
  settings: Record<string, unknown>,
): Compiled {
  const outputSelection = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } };
  const input = { language: 'Solidity', sources, settings: { ...settings, outputSelection } };
  const find = (path: string): { contents: string } => ({ contents: readPackageSource(path) });
  const output: unknown = JSON.parse(compile(JSON.stringify(input), { import: find }));
  if (!isRecord(output)) throw new AppError('internal', 'the compiler answered no object');
  const errors = Array.isArray(output['errors'])
    ? output['errors'].filter((e) => isRecord(e) && e['severity'] === 'error')
    : [];
  if (errors.length > 0) throw new AppError('internal', JSON.stringify(errors, null, 2));
  const path = ['contracts', file, contract, 'evm'];
  const evm = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), output);
  return { bytecode: objectOf(evm, 'bytecode'), runtimeBytecode: objectOf(evm, 'deployedBytecode') };
}

function objectOf(evm: unknown, key: string): string {
  const code = isRecord(evm) ? evm[key] : undefined;
  const object = isRecord(code) ? code['object'] : undefined;
  if (typeof object !== 'string' || object === '')
    throw new AppError('internal', `the compiler gave no ${key}`);
  return `0x${object}`;
}

/** The files by name, as they should lie in scripts/dev/contracts. */
function compileAll(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  const write = (name: string, compiler: string, settings: Record<string, unknown>, code: Compiled): void => {
    files.set(
      `${name}.json`,
      `${JSON.stringify({ contract: name, compiler, settings, ...code }, null, 1)}\n`,
    );
  };
  const ownSettings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'shanghai',
    metadata: { bytecodeHash: 'none' },
  };
  const own: Sources = Object.fromEntries(
    OWN_CONTRACTS.map((name) => {
      return [`${name}.sol`, { content: readFileSync(join(contractsFolder(), `${name}.sol`), 'utf8') }];
    }),
  );
  const solc8 = loadCompiler(folder, 'solc8');
  for (const name of OWN_CONTRACTS)
    write(name, VERSIONS.solc8, ownSettings, compileFile(solc8, own, `${name}.sol`, name, ownSettings));

  const settings = { optimizer: { enabled: true, runs: 999_999 }, evmVersion: 'istanbul' };
  const solc5 = loadCompiler(folder, 'solc5');
  const pairFile = `${V2_CORE}UniswapV2Pair.sol`;
  const original = compileFile(solc5, v2CoreSources([]), pairFile, 'UniswapV2Pair', settings);
  if (keccak256(original.bytecode) !== `0x${UNISWAP_PAIR_HASH}`) {
    throw new AppError('internal', "these compiler settings do not reproduce Uniswap's own pair");
  }
  const core = v2CoreSources(PAIR_EDITS);
  const pair = compileFile(solc5, core, pairFile, 'UniswapV2Pair', settings);
  write(
    'PulseDevFactory',
    VERSIONS.solc5,
    settings,
    compileFile(solc5, core, `${V2_CORE}UniswapV2Factory.sol`, 'UniswapV2Factory', settings),
  );

  const library = `${V2_PERIPHERY}libraries/UniswapV2Library.sol`;
  const router = `${V2_PERIPHERY}UniswapV2Router02.sol`;
  const periphery: Sources = {
    [router]: { content: readPackageSource(router) },
    [library]: {
      content: edit(readPackageSource(library), [
        ...LIBRARY_EDITS,
        [UNISWAP_PAIR_HASH, keccak256(pair.bytecode).slice(2)],
      ]),
    },
  };
  const solc6 = loadCompiler(folder, 'solc6');
  write(
    'PulseDevRouter02',
    VERSIONS.solc6,
    settings,
    compileFile(solc6, periphery, router, 'UniswapV2Router02', settings),
  );
  return files;
}

/** Uniswap's sources with the pair edited. */
function v2CoreSources(edits: readonly (readonly [string, string])[]): Sources {
  const sources: Sources = {};
  for (const name of ['UniswapV2Factory.sol', 'UniswapV2Pair.sol']) {
    sources[V2_CORE + name] = { content: readPackageSource(V2_CORE + name) };
  }
  const path = `${V2_CORE}UniswapV2Pair.sol`;
  sources[path] = { content: edit(readPackageSource(path), edits) };
  return sources;
}

function contractsFolder(): string {
  return join(root, 'scripts', 'dev', 'contracts');
}

/** Writes the files, or with `check` names those that differ. Returns the process's exit code. */
function main(folder: string | undefined, check: boolean): number {
  if (folder === undefined)
    throw new AppError('bad_config', 'give the folder that holds solc5, solc6 and solc8');
  const files = compileAll(folder);
  const known = readdirSync(contractsFolder()).filter((name) => name.endsWith('.json'));
  const stray = known.filter((name) => !files.has(name));
  const changed = [...files].filter(([name, text]) => {
    return !known.includes(name) || readFileSync(join(contractsFolder(), name), 'utf8') !== text;
  });
  if (!check) for (const [name, text] of changed) writeFileSync(join(contractsFolder(), name), text);
  process.stdout.write(
    `${files.size} contracts, differing: ${changed.map(([name]) => name).join(' ') || 'none'}\n`,
  );
  if (stray.length > 0) process.stdout.write(`without a source: ${stray.join(' ')}\n`);
  return check && (changed.length > 0 || stray.length > 0) ? 1 : 0;
}

if (require.main === module) {
  process.exitCode = main(process.argv[2], process.argv.includes('--check'));
}
