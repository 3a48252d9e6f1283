/**
 * Reads Solidity's metadata file of a contract and checks it against the sources.
 * https://docs.soliditylang.org/en/latest/metadata.html
 */
import { z } from 'zod';

import { readAbi } from '../../domain/abi';
import { isHexOfLength, toLowerHex, type Hex } from '../../domain/hex';
import { hashTexts } from '../../domain/texts/textThread';
import type { ContractId, VerificationStatus } from '../../domain/verifiedContract';
import { findLicense, NO_DEPLOYMENT, type SourceFile } from '../verifiedRecord';
import { BrokenRecord, type ImportedRecord } from './foundContract';

const metadataShape = z.looseObject({
  compiler: z.looseObject({ version: z.string().min(1).max(80) }),
  language: z.string(),
  output: z.object({ abi: z.unknown(), userdoc: z.unknown().optional(), devdoc: z.unknown().optional() }),
  settings: z.looseObject({
    compilationTarget: z.record(z.string(), z.string()),
    evmVersion: z.string().max(40).optional(),
    libraries: z.record(z.string(), z.unknown()).optional(),
    optimizer: z
      .looseObject({ enabled: z.boolean().optional(), runs: z.number().int().min(0).optional() })
      .optional(),
  }),
  sources: z.record(
    z.string(),
    z.looseObject({
      keccak256: z.string().optional(),
      content: z.string().optional(),
      license: z.string().max(80).optional(),
    }),
  ),
});
type Metadata = z.infer<typeof metadataShape>;

const RUNS_DEFAULT = 200;
const UINT32_MAX = 4_294_967_295;

export interface MetadataFacts extends ContractId {
  readonly status: VerificationStatus;
  /** Time in unix seconds. */
  readonly verifiedAt: number;
}

/**
 * Builds the record of a contract from its metadata. `findFile` returns a source by its keccak256, which the caller
 * has computed. Throws BrokenRecord if the parts do not match.
 */
export async function readMetadata(
  text: string,
  facts: MetadataFacts,
  findFile: (hash: Hex) => string | null,
): Promise<ImportedRecord> {
  const metadata = parseMetadata(text);
  const targets = Object.entries(metadata.settings.compilationTarget);
  const [target] = targets;
  if (target === undefined || targets.length !== 1)
    throw new BrokenRecord(`the metadata has ${targets.length} compilation targets; allowed: 1`);
  const [path, name] = target;
  if (metadata.sources[path] === undefined)
    throw new BrokenRecord(`the sources do not contain the compilation target ${path.slice(0, 80)}`);
  const abi = readAbi(metadata.output.abi);
  if (abi === null) throw new BrokenRecord('the ABI in the metadata is not valid');
  const sources = await Promise.all(
    Object.entries(metadata.sources).map(([path, source]) => readSource(path, source, findFile)),
  );
  const { optimizer, evmVersion } = metadata.settings;
  const license =
    metadata.sources[path]?.license ?? findLicense(sources.find((file) => file.path === path)?.content ?? '');
  const libraries = readLibraries(metadata.settings.libraries ?? {});
  return {
    sources,
    runtimeCode: null,
    metadataText: text,
    outputs: { metadata: text, userdoc: metadata.output.userdoc, devdoc: metadata.output.devdoc },
    deployment: NO_DEPLOYMENT,
    contract: {
      chainId: facts.chainId,
      address: facts.address,
      status: facts.status,
      source: 'sourcify',
      verifiedAt: facts.verifiedAt,
      name,
      path,
      language: readLanguage(metadata.language),
      compiler: metadata.language === 'Vyper' ? 'vyper' : 'solc',
      compilerVersion: metadata.compiler.version.replace(/^v/, ''),
      optimization: optimizer?.enabled === true,
      runs: Math.min(optimizer?.runs ?? RUNS_DEFAULT, UINT32_MAX),
      evmVersion: evmVersion ?? null,
      license: license === 'UNKNOWN' ? null : license,
      abi,
      constructorArguments: abi.some(
        (entry) => entry.type === 'constructor' && (entry.inputs ?? []).length > 0,
      )
        ? null
        : '0x',
      creationMatch: null,
      libraries,
      settings: JSON.stringify(toStandardSettings(metadata.settings, libraries)),
    },
  };
}

function parseMetadata(text: string): Metadata {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BrokenRecord('the metadata is not JSON');
  }
  const parsed = metadataShape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new BrokenRecord(`the metadata is not valid at "${parsed.error.issues[0]?.path.join('.') ?? ''}"`);
}

export function readLanguage(text: string): 'Solidity' | 'Vyper' | 'Yul' {
  const language = (['Solidity', 'Vyper', 'Yul'] as const).find(
    (language) => language.toLowerCase() === text.toLowerCase(),
  );
  if (language === undefined)
    throw new BrokenRecord(`language: got "${text.slice(0, 40)}"; allowed: Solidity, Vyper, Yul`);
  return language;
}

async function readSource(
  path: string,
  { keccak256, content }: Metadata['sources'][string],
  findFile: (hash: Hex) => string | null,
): Promise<SourceFile> {
  const hash = isHexOfLength(keccak256, 64) ? toLowerHex(keccak256) : null;
  if (hash === null) throw new BrokenRecord(`the metadata has no valid keccak256 of ${path.slice(0, 80)}`);
  const fileContent = findFile(hash);
  if (fileContent !== null) return { path, content: fileContent, contentHash: hash };
  if (content === undefined) throw new BrokenRecord(`the source file ${path.slice(0, 80)} is missing`);
  if ((await hashTexts([content]))[0] !== hash)
    throw new BrokenRecord(`the hash of ${path.slice(0, 80)} differs from the metadata`);
  return { path, content, contentHash: hash };
}

/** Metadata names a library as `path:Name`; standard JSON has path and name separately. */
function readLibraries(libraries: Readonly<Record<string, unknown>>): Record<string, Hex> {
  const addressByName: Record<string, Hex> = {};
  for (const [name, address] of Object.entries(libraries)) {
    if (isHexOfLength(address, 40)) addressByName[name.replace(/^:/, '')] = toLowerHex(address);
  }
  return addressByName;
}

function toStandardSettings(
  settings: Metadata['settings'],
  libraries: Readonly<Record<string, Hex>>,
): Record<string, unknown> {
  const { compilationTarget, libraries: metadataLibraries, ...rest } = settings;
  void compilationTarget;
  void metadataLibraries;
  const librariesByPath: Record<string, Record<string, Hex>> = {};
  for (const [name, address] of Object.entries(libraries)) {
    const colonIndex = name.lastIndexOf(':');
    const path = colonIndex < 0 ? '' : name.slice(0, colonIndex);
    librariesByPath[path] = { ...librariesByPath[path], [name.slice(colonIndex + 1)]: address };
  }
  return { ...rest, ...(Object.keys(librariesByPath).length === 0 ? {} : { libraries: librariesByPath }) };
}
