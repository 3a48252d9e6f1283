/**
 * Verified contracts for tests, compiled with npm solc: OpenZeppelin, Uniswap V2 and V3, and tokens based on them.
 * Compiling takes more than a minute, so .cache keeps the output by hash of the input.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { AbiCoder, keccak256, toUtf8Bytes } from 'ethers';

import { field, type DevRpc } from '../../../src/dev/node/devRpc';
import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { readAbi } from '../../../src/domain/abi';
import type { Hex } from '../../../src/domain/hex';
import type { AbiEntry } from '../../../src/domain/verifiedContract';
import {
  hashCode,
  NO_DEPLOYMENT,
  type VerifiedRecord,
  findLicense,
} from '../../../src/contracts/verifiedRecord';
import { findCompilers } from '../../../src/contracts/verify/compilers';
import { withoutOutputs, type StandardInput } from '../../../src/contracts/verify/standardJson';
import { listSourceSets, TRICKY, type SourceSet } from './worldSources';

/** One contract with all data for its verification. */
export interface WorldContract {
  readonly path: string;
  readonly name: string;
  /** Version of the compiler, for example `0.8.30+commit.73712a01`. */
  readonly version: string;
  /** The source files and the compiler settings. */
  readonly input: StandardInput;
  /** The ABI as solc wrote it. */
  readonly metadata: string;
  readonly abi: readonly AbiEntry[];
  /** Code as 0x hex, with `__$…$__` as placeholders of libraries. */
  readonly creation: string;
  readonly runtime: string;
}

interface Compilation {
  readonly version: string;
  readonly contracts: readonly {
    readonly path: string;
    readonly name: string;
    readonly metadata: string;
    readonly abi: unknown;
    readonly creation: string;
    readonly runtime: string;
  }[];
}

const COMPILE_LIMITS = {
  cpuSeconds: 180,
  clockMs: 600_000,
  memoryMax: 4 * 2 ** 30,
  answerMax: 2 ** 28,
  niceness: 0,
};
const OUTPUTS = ['abi', 'metadata', 'evm.bytecode.object', 'evm.deployedBytecode.object'];
/** Increase this number when the format of the cached files changes. */
const FORMAT = 2;
const VERIFIED_AT = 1_700_000_000;

/** Compiles a set of sources and returns every contract with code. */
export async function compileSet({ version, input }: SourceSet): Promise<WorldContract[]> {
  const keptCompilation = await compileCached(version, input);
  return keptCompilation.contracts.map(({ abi, ...contract }) => {
    const paths = new Set(Object.keys((JSON.parse(contract.metadata) as { sources: object }).sources));
    const sources = Object.fromEntries(Object.entries(input.sources).filter(([path]) => paths.has(path)));
    return {
      ...contract,
      version: keptCompilation.version,
      input: { ...input, sources },
      abi: readAbi(abi) ?? [],
    };
  });
}

async function compileCached(version: string, input: StandardInput): Promise<Compilation> {
  const inputWithOutputs = {
    ...input,
    settings: { ...input.settings, outputSelection: { '*': { '*': OUTPUTS } } },
  };
  const digest = createHash('sha256')
    .update(JSON.stringify([FORMAT, version, inputWithOutputs]))
    .digest('hex');
  const folder = join(findPackageRoot(), '.cache', 'compiled');
  const file = join(folder, `${digest}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Compilation;
  const answer = await findCompilers(COMPILE_LIMITS).compile(version, inputWithOutputs);
  const compilation = { version: answer.version, contracts: listContracts(answer.output) };
  mkdirSync(folder, { recursive: true });
  // Another worker may write the same file. The last writer wins, with the same content.
  const draftFile = `${file}.${process.pid}`;
  writeFileSync(draftFile, JSON.stringify(compilation));
  renameSync(draftFile, file);
  return compilation;
}

function listContracts(output: unknown): Compilation['contracts'] {
  const { errors = [], contracts = {} } = output as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts?: Record<
      string,
      Record<string, { abi: unknown; metadata: string; evm: Record<string, { object: string }> }>
    >;
  };
  const firstError = errors.find((error) => error.severity === 'error');
  if (firstError !== undefined) throw new Error(firstError.formattedMessage);
  return Object.entries(contracts).flatMap(([path, byName]) =>
    Object.entries(byName).flatMap(([name, { abi, metadata, evm }]) => {
      const [creation = '', runtime = ''] = [evm['bytecode']?.object, evm['deployedBytecode']?.object];
      if (runtime === '') return [];
      return [{ path, name, metadata, abi, creation: `0x${creation}`, runtime: `0x${runtime}` }];
    }),
  );
}

let compiled: Promise<WorldContract[]> | null = null;

/** All contracts, at least 150. Each path and name occurs once per compiler. Compiles once per test file. */
export function compileWorld(): Promise<WorldContract[]> {
  compiled ??= (async () => {
    const contracts = new Map<string, WorldContract>();
    // Compiles sequentially, because each run takes a core and much memory.
    for (const set of listSourceSets())
      for (const contract of await compileSet(set)) contracts.set(addressOf(contract), contract);
    return [...contracts.values()];
  })();
  return compiled;
}

/** The address of a contract in records of tests that do not deploy it. */
export function addressOf(contract: WorldContract): Hex {
  const label = `${contract.version} ${contract.path}:${contract.name}`;
  return `0x${keccak256(toUtf8Bytes(label)).slice(-40)}`;
}

/** The store's record of a contract: an exact match, with the compiled runtime code as its code. */
export function toRecord(
  contract: WorldContract,
  chainId: number,
  address = addressOf(contract),
): VerifiedRecord {
  const { input, abi } = contract;
  const optimizer = input.settings['optimizer'] as { enabled: boolean; runs: number };
  const constructor = abi.find((entry) => entry.type === 'constructor');
  return {
    codeHash: hashCode(`0x${contract.runtime.slice(2).replaceAll(/__.{36}__/g, '0'.repeat(40))}`),
    deployment: NO_DEPLOYMENT,
    sources: Object.entries(input.sources).map(([path, { content }]) => ({ path, content })),
    contract: {
      chainId,
      address,
      status: 'exact_match',
      source: 'sourcify',
      verifiedAt: VERIFIED_AT,
      name: contract.name,
      path: contract.path,
      language: 'Solidity',
      compiler: 'solc',
      compilerVersion: contract.version,
      optimization: optimizer.enabled,
      runs: optimizer.runs,
      evmVersion: String(input.settings['evmVersion']),
      license: findLicense(input.sources[contract.path]?.content ?? ''),
      abi,
      constructorArguments: constructor === undefined ? '0x' : null,
      libraries: {},
      creationMatch: null,
      settings: JSON.stringify(withoutOutputs(input.settings)),
    },
  };
}

/** Records of all contracts on a chain. */
export async function makeRecords(chainId: number): Promise<VerifiedRecord[]> {
  const contracts = await compileWorld();
  return contracts.map((contract) => toRecord(contract, chainId));
}

/** Records of four small contracts, compiled in seconds, for tests that accept any verified contract. */
export async function makeSmallRecords(chainId: number): Promise<VerifiedRecord[]> {
  return (await compileSet(TRICKY)).map((contract) => toRecord(contract, chainId));
}

export interface Deployed {
  readonly address: Hex;
  readonly transaction: Hex;
  readonly constructorArguments: Hex;
}

/** Deploys a contract from the node's first unlocked account and mines a block. `libraries` is keyed by `path:Name`. */
export async function deploy(
  rpc: DevRpc,
  contract: WorldContract,
  values: readonly unknown[] = [],
  libraries: Readonly<Record<string, Hex>> = {},
): Promise<Deployed> {
  const inputs = contract.abi.find((entry) => entry.type === 'constructor')?.inputs ?? [];
  const encoded = AbiCoder.defaultAbiCoder().encode(
    inputs.map((input) => input.type),
    values,
  );
  let code = contract.creation;
  for (const [name, address] of Object.entries(libraries)) {
    const placeholder = `__$${keccak256(toUtf8Bytes(name)).slice(2, 36)}$__`;
    code = code.replaceAll(placeholder, address.slice(2));
  }
  const [from] = (await rpc.call('eth_accounts')) as Hex[];
  const transaction = await rpc.call('eth_sendTransaction', [
    { from, data: code + encoded.slice(2), gas: '0x1c9c380' },
  ]);
  await rpc.call('evm_mine');
  const receipt = await rpc.call('eth_getTransactionReceipt', [transaction]);
  if (field(receipt, 'status') !== '0x1') throw new Error(`${contract.name} was not deployed`);
  return {
    address: field(receipt, 'contractAddress') as Hex,
    transaction: transaction as Hex,
    constructorArguments: encoded as Hex,
  };
}
