/** Verifies a contract: compiles its sources and compares the result with the code on the chain. */
import { checkArguments, constructorOf } from '../../domain/creation';
import type { Hex } from '../../domain/hex';
import type { VerificationStatus } from '../../domain/verifiedContract';
import type { VerificationFault, VerificationRequest } from '../../domain/verificationQueue';
import {
  hashCode,
  NO_DEPLOYMENT,
  type SourceFile,
  type VerifiedRecord,
  findLicense,
} from '../verifiedRecord';
import {
  bareName,
  compareCode,
  findMetadata,
  hasMetadataHash,
  type CodeMatch,
  type CodeRange,
  type Difference,
  type CompiledCode,
} from './compareCode';
import type { Compilers } from './compilers';
import {
  parseTarget,
  readCompiled,
  readLibraries,
  readStandardInput,
  withComments,
  withOutputs,
  type CompiledContract,
  type StandardInput,
} from './standardJson';

export interface OnChain {
  /** Runtime code on the chain as 0x hex, not empty. */
  readonly runtime: Hex;
  /** Creation code with arguments; null if unknown. */
  readonly creation: Hex | null;
  /** The creation transaction; null if unknown. */
  readonly transaction: Hex | null;
}

type Verification =
  | { readonly record: VerifiedRecord }
  /** The reason of a mismatch, as text for people. */
  | { readonly reason: string; readonly fault: VerificationFault };

interface Job {
  readonly compilers: Compilers;
  readonly request: VerificationRequest;
  readonly input: StandardInput;
  readonly signal: AbortSignal | undefined;
}

/**
 * Compiles and compares. A mismatch is a result and no error. Throws bad_request for sources that do not
 * compile, an unknown compiler and the like. `now` is in unix seconds.
 */
export async function verifyContract(
  compilers: Compilers,
  request: VerificationRequest,
  onChain: OnChain,
  now: number,
  signal?: AbortSignal,
): Promise<Verification> {
  const input = readStandardInput(request.input);
  const job: Job = { compilers, request, input, signal };
  const { contract, version } = await compile(job, input);
  const runtime = await compareKind(job, 'runtime', onChain.runtime, contract);
  if ('difference' in runtime) return mismatch(runtime);
  let status: VerificationStatus = runtime.match.exact ? 'exact_match' : 'match';
  let constructorArguments: Hex | null = null;
  let creationMatch: VerificationStatus | null = null;
  if (onChain.creation !== null) {
    const creation = await compareKind(job, 'creation', onChain.creation, contract);
    if ('difference' in creation) return mismatch(creation);
    constructorArguments = `0x${creation.match.trailingHex}`;
    const argumentFault = checkArguments(contract.abi, constructorArguments);
    if (argumentFault !== null) return { reason: argumentFault, fault: 'no_match' };
    const givenArguments = request.constructorArguments ?? null;
    if (givenArguments !== null && givenArguments !== constructorArguments) {
      return {
        reason: 'the given constructor arguments differ from those on the chain',
        fault: 'no_match',
      };
    }
    creationMatch = creation.match.exact ? 'exact_match' : 'match';
    if (!creation.match.exact) status = 'match';
  } else if (constructorOf(contract.abi).length === 0) constructorArguments = '0x';
  const record = makeRecord(job, contract, version, runtime.match);
  const facts = { status, constructorArguments, creationMatch, verifiedAt: now };
  return {
    record: {
      ...record,
      contract: { ...record.contract, ...facts },
      codeHash: hashCode(onChain.runtime),
      deployment: { ...NO_DEPLOYMENT, transaction: onChain.transaction },
      outputs: contract.outputs,
    },
  };
}

function mismatch({ difference, lengths }: Difference): Extract<Verification, { reason: string }> {
  return { reason: difference, fault: lengths === true ? 'bytecode_length_mismatch' : 'no_match' };
}

async function compile(
  { compilers, request, signal }: Job,
  input: StandardInput,
): Promise<{ contract: CompiledContract; version: string }> {
  const target = parseTarget(request.contractName);
  const inputWithOutputs = withOutputs(input, target, request.compilerVersion);
  const { output, version } = await compilers.compile(request.compilerVersion, inputWithOutputs, signal);
  return { contract: readCompiled(output, target), version };
}

/**
 * Compares the runtime or the creation code. Compiles a second time to locate the metadata only if the metadata may be
 * the difference.
 */
async function compareKind(
  job: Job,
  kind: 'runtime' | 'creation',
  chainCode: Hex,
  contract: CompiledContract,
): Promise<{ readonly match: CodeMatch } | Difference> {
  const compiled: CompiledCode = contract[kind];
  const libraries = new Map(
    Object.entries({ ...readLibraries(job.input.settings), ...job.request.libraries }),
  );
  const options = { kind, address: job.request.address, libraries };
  const comparison = compareCode(chainCode, compiled, { ...options, metadata: [] });
  if ('match' in comparison)
    return { match: { ...comparison.match, exact: isHashed(job.input) && hasMetadataHash(compiled.code) } };
  // Code of another length differs in more than the metadata.
  if (comparison.lengths === true) return comparison;
  const recompiled = await compile(job, withComments(job.input));
  const metadata: readonly CodeRange[] = findMetadata(compiled.code, recompiled.contract[kind].code) ?? [];
  return metadata.length === 0 ? comparison : compareCode(chainCode, compiled, { ...options, metadata });
}

/** Without a hash of the sources in the metadata, an exact match cannot be proven. */
function isHashed({ settings }: StandardInput): boolean {
  const metadata = recordIn(settings, 'metadata');
  return metadata['bytecodeHash'] !== 'none' && metadata['appendCBOR'] !== false;
}

function makeRecord(
  { request, input }: Job,
  compiled: CompiledContract,
  version: string,
  match: CodeMatch,
): Pick<VerifiedRecord, 'contract' | 'sources'> {
  const { settings } = input;
  const optimizer = recordIn(settings, 'optimizer');
  const usedPaths = new Set(compiled.paths);
  // Files that the contract does not use are left out, because the comparison says nothing about them.
  const sources: SourceFile[] = Object.entries(input.sources).flatMap(([path, { content }]) => {
    return usedPaths.size === 0 || usedPaths.has(path) ? [{ path, content }] : [];
  });
  const evmVersion = settings['evmVersion'];
  const runs = optimizer['runs'];
  return {
    sources,
    contract: {
      chainId: request.chainId,
      address: request.address,
      status: 'match',
      source: 'local',
      verifiedAt: 0,
      constructorArguments: null,
      creationMatch: null,
      name: compiled.name,
      path: compiled.path,
      language: input.language,
      compiler: 'solc',
      compilerVersion: version,
      optimization: optimizer['enabled'] === true,
      runs:
        typeof runs === 'number' && Number.isInteger(runs) && runs >= 0 ? Math.min(runs, 2 ** 32 - 1) : 200,
      evmVersion: typeof evmVersion === 'string' ? evmVersion.slice(0, 40) : null,
      license: request.license ?? findLicense(input.sources[compiled.path]?.content ?? ''),
      abi: compiled.abi,
      libraries: mergeLibraries(readLibraries(settings), match.libraries),
      settings: JSON.stringify(settings),
    },
  };
}

/** A library named without a path in the settings is the same as a library with a path in the code. */
function mergeLibraries(
  linkedByCompiler: Readonly<Record<string, Hex>>,
  linked: CodeMatch['libraries'],
): Record<string, Hex> {
  const libraryNames = new Set(Object.keys(linked).map(bareName));
  const notLinked = Object.entries(linkedByCompiler).filter(
    ([name]) => name !== bareName(name) || !libraryNames.has(name),
  );
  return { ...Object.fromEntries(notLinked), ...linked };
}

function recordIn(value: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const member = value[key];
  return typeof member === 'object' && member !== null ? Object.fromEntries(Object.entries(member)) : {};
}
