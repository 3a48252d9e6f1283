/**
 * Reads verified contracts from a Blockscout server, API version 2: the pages of its list, then one request per
 * contract.
 */
import { z } from 'zod';

import { readAbi } from '../../domain/abi';
import { isAddress, toLowerHex, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { NO_DEPLOYMENT, type SourceFile, findLicense } from '../verifiedRecord';
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
import { readLanguage } from './metadata';

const RUNS_DEFAULT = 200;
const UINT32_MAX = 4_294_967_295;

const pageShape = z.looseObject({
  items: z.array(z.looseObject({ address: z.looseObject({ hash: z.string() }) })),
  next_page_params: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable(),
});

const contractShape = z.looseObject({
  is_verified: z.boolean().nullish(),
  is_fully_verified: z.boolean().nullish(),
  is_partially_verified: z.boolean().nullish(),
  verified_twin_address_hash: z.string().nullish(),
  verified_at: z.string().nullish(),
  name: z.string().nullish(),
  file_path: z.string().nullish(),
  source_code: z.string().nullish(),
  additional_sources: z.array(z.looseObject({ file_path: z.string(), source_code: z.string() })).nullish(),
  compiler_version: z.string().nullish(),
  compiler_settings: z.record(z.string(), z.unknown()).nullish(),
  language: z.string().nullish(),
  is_vyper_contract: z.boolean().nullish(),
  optimization_enabled: z.union([z.boolean(), z.enum(['true', 'false'])]).nullish(),
  optimization_runs: z.union([z.number(), z.string()]).nullish(),
  evm_version: z.string().nullish(),
  license_type: z.string().nullish(),
  abi: z.unknown(),
  constructor_args: z.string().nullish(),
  external_libraries: z.array(z.looseObject({ name: z.string(), address_hash: z.string() })).nullish(),
  deployed_bytecode: z.string().nullish(),
});
type ContractAnswer = z.infer<typeof contractShape>;

const FILE_ENDINGS = { Solidity: '.sol', Vyper: '.vy', Yul: '.yul' };

/** SPDX identifiers of Blockscout's license names. */
const LICENSES: Readonly<Record<string, string>> = {
  unlicense: 'Unlicense',
  mit: 'MIT',
  gnu_gpl_v2: 'GPL-2.0',
  gnu_gpl_v3: 'GPL-3.0',
  gnu_lgpl_v2_1: 'LGPL-2.1',
  gnu_lgpl_v3: 'LGPL-3.0',
  bsd_2_clause: 'BSD-2-Clause',
  bsd_3_clause: 'BSD-3-Clause',
  mpl_2_0: 'MPL-2.0',
  osl_3_0: 'OSL-3.0',
  apache_2_0: 'Apache-2.0',
  gnu_agpl_v3: 'AGPL-3.0',
  bsl_1_1: 'BUSL-1.1',
};

/** Whether the server answers like a Blockscout server with API version 2. */
export async function isBlockscoutServer(fetch: JsonFetch, signal: AbortSignal): Promise<boolean> {
  const { status, body } = await fetch.get('/api/v2/smart-contracts', signal, 2);
  return status === 200 && pageShape.safeParse(body).success;
}

export function openBlockscoutServer(fetch: JsonFetch, chainId: number): ContractSource {
  return {
    key: `blockscout ${fetch.shown} ${chainId}`,
    appendsOnly: false,
    async *list(position, signal) {
      for (let query = position ?? ''; ;) {
        const { status, body } = await fetch.get(
          `/api/v2/smart-contracts${query === '' ? '' : `?${query}`}`,
          signal,
        );
        const parsed = pageShape.safeParse(body);
        if (status !== 200 || !parsed.success)
          throw new AppError(
            'unavailable',
            `the answer of ${fetch.shown} is not a list of contracts (status ${status})`,
          );
        const { items, next_page_params } = parsed.data;
        const nextQuery = next_page_params === null ? null : toQuery(next_page_params);
        for (const [index, { address }] of items.entries()) {
          if (!isAddress(address.hash)) continue;
          const isLast = index === items.length - 1;
          yield toFound(fetch, { chainId, address: toLowerHex(address.hash) }, isLast ? nextQuery : null);
        }
        if (nextQuery === null || nextQuery === query || items.length === 0) return;
        query = nextQuery;
      }
    },
  };
}

function toQuery(params: Readonly<Record<string, string | number | boolean | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== null) query.set(name, String(value));
  return query.toString();
}

function toFound(
  fetch: JsonFetch,
  facts: Pick<FoundContract, 'chainId' | 'address'>,
  position: string | null,
): FoundContract {
  return {
    ...facts,
    status: 'match',
    position,
    async read(signal) {
      const { status, body } = await fetch.get(`/api/v2/smart-contracts/${facts.address}`, signal);
      const parsed = contractShape.safeParse(body);
      if (status !== 200 || !parsed.success)
        throw new BrokenRecord(`the answer of the server is not a contract (status ${status})`);
      return readAnswer(parsed.data, facts);
    },
  };
}

function readAnswer(
  answer: ContractAnswer,
  facts: Pick<FoundContract, 'chainId' | 'address'>,
): ImportedRecord {
  if (answer.is_verified === false) throw new BrokenRecord('the contract is not verified on the server');
  const abi = readAbi(answer.abi);
  if (abi === null) throw new BrokenRecord('the ABI of the contract is not valid');
  const { name, source_code: source } = answer;
  if (typeof name !== 'string' || typeof source !== 'string')
    throw new BrokenRecord('the contract has no name or no source code');
  const language = readLanguage(
    answer.language ?? (answer.is_vyper_contract === true ? 'vyper' : 'solidity'),
  );
  const path = nonEmpty(answer.file_path) ?? `${name}${FILE_ENDINGS[language]}`;
  const evmVersion = nonEmpty(answer.evm_version);
  const exact = answer.is_fully_verified === true && answer.is_partially_verified !== true;
  const { outputSelection, ...settings } = answer.compiler_settings ?? {};
  void outputSelection;
  return checkLimits({
    sources: listSources(answer, path, source),
    runtimeCode: readBytes(answer.deployed_bytecode),
    metadataText: null,
    deployment: NO_DEPLOYMENT,
    contract: {
      ...facts,
      status: exact ? 'exact_match' : 'match',
      source: 'blockscout',
      verifiedAt: toUnixSeconds(answer.verified_at),
      name,
      path,
      language,
      compiler: language === 'Vyper' ? 'vyper' : 'solc',
      compilerVersion: (answer.compiler_version ?? '').replace(/^v(?:yper:)?/, '').slice(0, 80),
      optimization: String(answer.optimization_enabled ?? false) === 'true',
      runs: readRuns(answer.optimization_runs),
      evmVersion: evmVersion === 'default' ? null : evmVersion,
      license: LICENSES[answer.license_type ?? ''] ?? findLicense(source),
      abi,
      constructorArguments: readBytes(answer.constructor_args),
      creationMatch: null,
      libraries: readLibraries(answer),
      settings: JSON.stringify(
        Object.keys(settings).length === 0 ? defaultSettings(answer, evmVersion) : settings,
      ),
    },
  });
}

function nonEmpty(text: string | null | undefined): string | null {
  return text === null || text === undefined || text === '' ? null : text;
}

function readRuns(value: string | number | null | undefined): number {
  const runs = Number(value ?? RUNS_DEFAULT);
  return Number.isInteger(runs) && runs >= 0 ? Math.min(runs, UINT32_MAX) : RUNS_DEFAULT;
}

function listSources(answer: ContractAnswer, path: string, source: string): SourceFile[] {
  const files = new Map([[path, source]]);
  for (const { file_path, source_code } of answer.additional_sources ?? []) {
    if (!files.has(file_path)) files.set(file_path, source_code);
  }
  return [...files].map(([path, content]) => ({ path, content }));
}

function readLibraries(answer: ContractAnswer): Record<string, Hex> {
  const entries = answer.external_libraries ?? [];
  return Object.fromEntries(
    entries.flatMap(({ name, address_hash }) =>
      isAddress(address_hash) ? [[name, toLowerHex(address_hash)]] : [],
    ),
  );
}

/** Settings of a contract that was verified from one flat file. Blockscout stores no settings for such a
 * contract. */
function defaultSettings(answer: ContractAnswer, evmVersion: string | null): Record<string, unknown> {
  return {
    optimizer: {
      enabled: String(answer.optimization_enabled ?? false) === 'true',
      runs: readRuns(answer.optimization_runs),
    },
    ...(evmVersion === null || evmVersion === 'default' ? {} : { evmVersion }),
  };
}
