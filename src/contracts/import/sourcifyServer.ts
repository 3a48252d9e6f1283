/**
 * Reads verified contracts from a Sourcify server, API version 2: lists by growing match id, then one request per
 * contract. https://docs.sourcify.dev/docs/api/
 */
import { z } from 'zod';

import { readAbi } from '../../domain/abi';
import { isAddress, isHash, toLowerHex, type Hex } from '../../domain/hex';
import { mapByHash } from '../../domain/texts/textThread';
import { AppError } from '../../errors';
import { findLicense } from '../verifiedRecord';
import {
  BrokenRecord,
  checkLimits,
  readBytes,
  toUnixSeconds,
  type ContractSource,
  type FoundContract,
  type ImportedRecord,
} from './foundContract';
import type { JsonFetch } from './jsonFetch';
import { readLibraries as readSettingsLibraries } from '../verify/standardJson';
import { readLanguage, readMetadata, type MetadataFacts } from './metadata';

const PAGE_CONTRACTS = 200;
const CONTRACT_FIELDS =
  'abi,metadata,sources,compilation,deployment,creationBytecode,runtimeBytecode,storageLayout,userdoc,devdoc';
const RUNS_DEFAULT = 200;
const UINT32_MAX = 4_294_967_295;

const statusShape = z.enum(['exact_match', 'match']);
const listShape = z.object({
  results: z.array(
    z.object({
      match: statusShape.nullable(),
      runtimeMatch: statusShape.nullable().optional(),
      address: z.string(),
      matchId: z.union([z.string(), z.number()]),
    }),
  ),
});

const bytecodeShape = z.looseObject({
  onchainBytecode: z.string().nullish(),
  transformationValues: z
    .looseObject({
      constructorArguments: z.string().nullish(),
      libraries: z.record(z.string(), z.string()).nullish(),
    })
    .nullish(),
});
const contractShape = z.looseObject({
  match: statusShape.nullable(),
  creationMatch: statusShape.nullish(),
  runtimeMatch: statusShape.nullish(),
  verifiedAt: z.string().nullish(),
  abi: z.unknown(),
  metadata: z.unknown(),
  storageLayout: z.unknown().optional(),
  userdoc: z.unknown().optional(),
  devdoc: z.unknown().optional(),
  sources: z.record(z.string(), z.looseObject({ content: z.string() })).nullish(),
  compilation: z
    .looseObject({
      language: z.string(),
      compiler: z.string(),
      compilerVersion: z.string(),
      compilerSettings: z.record(z.string(), z.unknown()),
      name: z.string(),
      fullyQualifiedName: z.string(),
    })
    .nullish(),
  deployment: z
    .looseObject({
      transactionHash: z.string().nullish(),
      blockNumber: z.union([z.string(), z.number()]).nullish(),
      deployer: z.string().nullish(),
    })
    .nullish(),
  creationBytecode: bytecodeShape.nullish(),
  runtimeBytecode: bytecodeShape.nullish(),
});
type ContractAnswer = z.infer<typeof contractShape>;

/** Whether the server answers like a Sourcify server with API version 2. */
export async function isSourcifyServer(
  fetch: JsonFetch,
  chainId: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { status, body } = await fetch.get(`/v2/contracts/${chainId}?limit=1`, signal, 2);
  return status === 200 && listShape.safeParse(body).success;
}

export function openSourcifyServer(fetch: JsonFetch, chainId: number): ContractSource {
  return {
    key: `sourcify ${fetch.shown} ${chainId}`,
    appendsOnly: true,
    async *list(position, signal) {
      for (let lastMatchId = position; ;) {
        const afterQuery = lastMatchId === null ? '' : `&afterMatchId=${encodeURIComponent(lastMatchId)}`;
        const { status, body } = await fetch.get(
          `/v2/contracts/${chainId}?sort=asc&limit=${PAGE_CONTRACTS}${afterQuery}`,
          signal,
        );
        // The server does not know this chain.
        if (status === 404 || status === 400) return;
        const parsedAnswer = listShape.safeParse(body);
        if (!parsedAnswer.success)
          throw new AppError(
            'unavailable',
            `the answer of ${fetch.shown} is not a list of contracts (status ${status})`,
          );
        const { results } = parsedAnswer.data;
        for (const { address, match, runtimeMatch, matchId } of results) {
          lastMatchId = String(matchId);
          const runtimeStatus = runtimeMatch ?? match;
          if (!isAddress(address) || runtimeStatus === null) continue;
          yield toFound(fetch, { chainId, address: toLowerHex(address), status: runtimeStatus }, lastMatchId);
        }
        if (results.length < PAGE_CONTRACTS) return;
      }
    },
  };
}

function toFound(
  fetch: JsonFetch,
  facts: Pick<FoundContract, 'chainId' | 'address' | 'status'>,
  position: string,
): FoundContract {
  return {
    ...facts,
    position,
    async read(signal) {
      const { chainId, address } = facts;
      const { status, body } = await fetch.get(
        `/v2/contract/${chainId}/${address}?fields=${CONTRACT_FIELDS}`,
        signal,
      );
      const parsed = contractShape.safeParse(body);
      if (status !== 200 || !parsed.success)
        throw new BrokenRecord(`the answer of the server is not a contract (status ${status})`);
      return readAnswer(parsed.data, facts);
    },
  };
}

async function readAnswer(
  answer: ContractAnswer,
  facts: Pick<FoundContract, 'chainId' | 'address' | 'status'>,
): Promise<ImportedRecord> {
  // The match of the runtime code decides the status of the verification.
  const status = answer.runtimeMatch ?? answer.match;
  if (status === null) throw new BrokenRecord('the contract is not verified on the server');
  const verificationFacts: MetadataFacts = { ...facts, status, verifiedAt: toUnixSeconds(answer.verifiedAt) };
  const record =
    typeof answer.metadata === 'object' && answer.metadata !== null
      ? await withMetadata(answer, verificationFacts)
      : withoutMetadata(answer, verificationFacts);
  const { creationBytecode, runtimeBytecode, deployment, metadata, storageLayout, userdoc, devdoc } = answer;
  return checkLimits({
    ...record,
    outputs: { metadata, storageLayout, userdoc, devdoc },
    runtimeCode: readBytes(runtimeBytecode?.onchainBytecode),
    deployment: readDeployment(deployment),
    contract: {
      ...record.contract,
      creationMatch: answer.creationMatch ?? null,
      constructorArguments:
        readBytes(creationBytecode?.transformationValues?.constructorArguments) ??
        record.contract.constructorArguments,
      libraries: {
        ...record.contract.libraries,
        ...readLibraries(runtimeBytecode?.transformationValues?.libraries),
      },
    },
  });
}

function readDeployment(deployment: ContractAnswer['deployment']): ImportedRecord['deployment'] {
  const blockNumber = Number(deployment?.blockNumber ?? NaN);
  return {
    deployer: isAddress(deployment?.deployer) ? toLowerHex(deployment.deployer) : null,
    transaction: isHash(deployment?.transactionHash) ? toLowerHex(deployment.transactionHash) : null,
    block: Number.isInteger(blockNumber) && blockNumber >= 0 && blockNumber < 2 ** 32 ? blockNumber : null,
  };
}

function readLibraries(libraries: Readonly<Record<string, string>> | null | undefined): Record<string, Hex> {
  const entries = Object.entries(libraries ?? {});
  return Object.fromEntries(
    entries.flatMap(([name, address]) => (isAddress(address) ? [[name, toLowerHex(address)]] : [])),
  );
}

async function withMetadata(answer: ContractAnswer, facts: MetadataFacts): Promise<ImportedRecord> {
  const byHash = await mapByHash(Object.values(answer.sources ?? {}).map(({ content }) => content));
  // The server returns parsed metadata, so the text that was hashed is not available.
  const record = await readMetadata(
    JSON.stringify(answer.metadata),
    facts,
    (hash) => byHash.get(hash) ?? null,
  );
  return { ...record, metadataText: null };
}

/** Builds the record without metadata, for example for Vyper, which has no metadata file. */
function withoutMetadata(answer: ContractAnswer, facts: MetadataFacts): ImportedRecord {
  const { compilation, sources } = answer;
  const abi = readAbi(answer.abi);
  if (compilation === null || compilation === undefined)
    throw new BrokenRecord('the contract has neither metadata nor compiler settings');
  if (abi === null) throw new BrokenRecord('the ABI of the contract is not valid');
  const { compilerSettings, fullyQualifiedName, name } = compilation;
  const path = fullyQualifiedName.slice(0, Math.max(0, fullyQualifiedName.length - name.length - 1));
  const files = Object.entries(sources ?? {}).map(([sourcePath, { content }]) => ({
    path: sourcePath,
    content,
  }));
  const { outputSelection, ...settings } = compilerSettings;
  void outputSelection;
  const evmVersion = settings['evmVersion'];
  return {
    sources: files,
    runtimeCode: null,
    metadataText: null,
    deployment: { deployer: null, transaction: null, block: null },
    contract: {
      ...facts,
      source: 'sourcify',
      name,
      path,
      language: readLanguage(compilation.language),
      compiler: compilation.compiler.toLowerCase(),
      compilerVersion: compilation.compilerVersion.replace(/^v/, ''),
      ...readOptimizer(settings),
      evmVersion: typeof evmVersion === 'string' ? evmVersion.slice(0, 40) : null,
      license: findLicense(files.find((file) => file.path === path)?.content ?? ''),
      abi,
      constructorArguments: null,
      creationMatch: null,
      libraries: readSettingsLibraries(settings),
      settings: JSON.stringify(settings),
    },
  };
}

const optimizerShape = z.looseObject({
  enabled: z.boolean().optional(),
  runs: z.number().int().min(0).max(UINT32_MAX).optional(),
});

/** Solidity has the setting `optimizer`, Vyper `optimize`. */
function readOptimizer(settings: Readonly<Record<string, unknown>>): { optimization: boolean; runs: number } {
  const { optimizer, optimize } = settings;
  const parsed = optimizerShape.safeParse(optimizer);
  if (parsed.success)
    return { optimization: parsed.data.enabled === true, runs: parsed.data.runs ?? RUNS_DEFAULT };
  return {
    optimization: optimize !== undefined && optimize !== false && optimize !== 'none',
    runs: RUNS_DEFAULT,
  };
}
