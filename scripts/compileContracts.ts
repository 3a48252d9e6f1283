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
import { contractsFolder, readPackageBytecode } from '../src/dev/packageFiles';
import {
  FACTORY_FILE,
  PAIR_FILE,
  readCoreSources,
  readOwnSources,
  readRouterSources,
  ROUTER_FILE,
  type SourceSet,
  PULSE_DEV_PAIR_HASH,
} from '../src/dev/sources/devSources';

type CompilerName = 'solc5' | 'solc6' | 'solc8';
type Compile = (input: string) => string;

interface Compiled {
  readonly bytecode: string;
  readonly runtimeBytecode: string;
}

const VERSIONS = { solc5: '0.5.16', solc6: '0.6.6', solc8: '0.8.30' } as const;
const OWN_CONTRACTS = [
  'DevToken',
  'OddToken',
  'TrickToken',
  'WrappedNative',
  'DevMulticall3',
  'DevTrader',
] as const;

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
  return (input) => String(compile(input));
}

/** Compiles one file; throws with the compiler's message on an error. */
function compileFile(compile: Compile, { input }: SourceSet, file: string, contract: string): Compiled {
  const outputSelection = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } };
  const output: unknown = JSON.parse(
    compile(JSON.stringify({ ...input, settings: { ...input.settings, outputSelection } })),
  );
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
  const write = (name: string, { compiler, input }: SourceSet, code: Compiled): void => {
    const content = { contract: name, compiler, settings: input.settings, ...code };
    files.set(`${name}.json`, `${JSON.stringify(content, null, 1)}\n`);
  };
  const [solc5, solc6, solc8] = [
    loadCompiler(folder, 'solc5'),
    loadCompiler(folder, 'solc6'),
    loadCompiler(folder, 'solc8'),
  ];
  const ownSources = readOwnSources();
  for (const name of OWN_CONTRACTS)
    write(name, ownSources, compileFile(solc8, ownSources, `${name}.sol`, name));

  expectPublished(
    compileFile(solc5, readCoreSources(false), PAIR_FILE, 'UniswapV2Pair'),
    '@uniswap/v2-core/build/UniswapV2Pair.json',
  );
  const core = readCoreSources(true);
  const pair = compileFile(solc5, core, PAIR_FILE, 'UniswapV2Pair');
  const pairHash = keccak256(pair.bytecode).slice(2);
  if (pairHash !== PULSE_DEV_PAIR_HASH)
    throw new AppError('internal', `the hash of the edited pair is ${pairHash}; see devSources.ts`);
  write('PulseDevFactory', core, compileFile(solc5, core, FACTORY_FILE, 'UniswapV2Factory'));

  expectPublished(
    compileFile(solc6, readRouterSources(false), ROUTER_FILE, 'UniswapV2Router02'),
    '@uniswap/v2-periphery/build/UniswapV2Router02.json',
  );
  const router = readRouterSources(true);
  write('PulseDevRouter02', router, compileFile(solc6, router, ROUTER_FILE, 'UniswapV2Router02'));
  return files;
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

/** Writes the files, or with `check` lists the files that differ. Returns the exit code. */
function main(folder: string | undefined, check: boolean): number {
  if (folder === undefined)
    throw new AppError(
      'bad_config',
      'the argument is missing: the folder with the packages solc5, solc6 and solc8',
    );
  const files = compileAll(folder);
  const storedNames = readdirSync(contractsFolder()).filter((name) => name.endsWith('.json'));
  const strayFiles = storedNames.filter((name) => !files.has(name));
  const changedFiles = [...files].filter(([name, text]) => {
    return !storedNames.includes(name) || readFileSync(join(contractsFolder(), name), 'utf8') !== text;
  });
  if (!check) for (const [name, text] of changedFiles) writeFileSync(join(contractsFolder(), name), text);
  process.stdout.write(
    `${files.size} contracts compiled; changed: ${changedFiles.map(([name]) => name).join(' ') || 'none'}\n`,
  );
  if (strayFiles.length > 0) process.stdout.write(`files without a source: ${strayFiles.join(' ')}\n`);
  return check && (changedFiles.length > 0 || strayFiles.length > 0) ? 1 : 0;
}

if (require.main === module) {
  process.exitCode = main(process.argv[2], process.argv.includes('--check'));
}
