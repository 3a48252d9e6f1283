/**
 * Builds the answer fields of Sourcify's contract look-up, API version 2, from the record of a verified
 * contract. Unknown fields are null.
 */
import { getAddress } from 'ethers';

import { listSignatures, selectorOf, topicOf } from '../../domain/abi';
import type { Hex } from '../../domain/hex';
import type { ProxyKind } from '../../domain/proxies';
import type { VerifiedContract } from '../../domain/verifiedContract';
import type { ContractView } from '../../query/contracts/contractView';
import type { CreationFacts } from '../../query/contracts/creationCode';

type Json = Readonly<Record<string, unknown>>;

/** The fields that every answer has. */
interface MinimalContract {
  readonly matchId: string;
  readonly match: VerifiedContract['status'] | null;
  readonly creationMatch: VerifiedContract['status'] | null;
  readonly runtimeMatch: VerifiedContract['status'] | null;
  readonly chainId: string;
  readonly address: string;
  readonly verifiedAt: string | null;
}

/** The fields that a client can request. */
export const SOURCIFY_FIELDS = [
  'creationBytecode',
  'runtimeBytecode',
  'deployment',
  'sources',
  'compilation',
  'abi',
  'metadata',
  'storageLayout',
  'userdoc',
  'devdoc',
  'stdJsonInput',
  'stdJsonOutput',
  'signatures',
  'proxyResolution',
] as const;
export type SourcifyField = (typeof SOURCIFY_FIELDS)[number];

const BYTECODE_PARTS = [
  'onchainBytecode',
  'recompiledBytecode',
  'sourceMap',
  'linkReferences',
  'cborAuxdata',
  'transformations',
  'transformationValues',
] as const;

/** Fields whose parts can be requested. Some parts have any name, because they come from the compiler
 * settings. */
const PARTS_OF_FIELD: ReadonlyMap<string, readonly string[]> = new Map<SourcifyField, readonly string[]>([
  ['creationBytecode', BYTECODE_PARTS],
  ['runtimeBytecode', [...BYTECODE_PARTS, 'immutableReferences']],
  ['deployment', ['transactionHash', 'blockNumber', 'transactionIndex', 'deployer']],
  [
    'compilation',
    ['language', 'compiler', 'compilerVersion', 'compilerSettings', 'name', 'fullyQualifiedName'],
  ],
  ['stdJsonInput', ['language', 'sources', 'settings']],
  ['signatures', ['function', 'event', 'error']],
  ['proxyResolution', ['isProxy', 'proxyType', 'implementations']],
]);
const OPEN_PARTS: ReadonlySet<string> = new Set([
  'transformationValues',
  'compilerSettings',
  'settings',
  'sources',
]);

/** Whether `path` names a field, or a part of a field by a dotted path. */
export function isFieldPath(path: string): boolean {
  const [field = '', part, ...deeperParts] = path.split('.');
  const knownFields: readonly string[] = SOURCIFY_FIELDS;
  if (part === undefined) return knownFields.includes(field);
  return (
    PARTS_OF_FIELD.get(field)?.includes(part) === true && (deeperParts.length === 0 || OPEN_PARTS.has(part))
  );
}

const PROXY_TYPES: Readonly<Record<ProxyKind, string>> = {
  eip1967: 'EIP1967Proxy',
  eip1967_beacon: 'EIP1967Proxy',
  eip1822: 'PROXIABLEProxy',
  eip1167: 'EIP1167Proxy',
  openzeppelin_legacy: 'ZeppelinOSProxy',
  eip2535: 'DiamondProxy',
  eip7702: 'EIP7702Delegation',
  safe: 'GnosisSafeProxy',
  custom_slot: 'CustomSlotProxy',
  beacon: 'BeaconProxy',
};

/** `creationMatch` is null for a contract whose creation code was not compared. */
export function minimalOf(
  record: Pick<
    VerifiedContract,
    'chainId' | 'address' | 'status' | 'verifiedAt' | 'matchId' | 'creationMatch'
  >,
): MinimalContract {
  const { chainId, address, status, verifiedAt } = record;
  return {
    matchId: record.matchId,
    match: status,
    creationMatch: record.creationMatch,
    runtimeMatch: status,
    chainId: String(chainId),
    address: getAddress(address),
    verifiedAt: new Date(verifiedAt * 1_000).toISOString().replace('.000Z', 'Z'),
  };
}

/** Values that are read only on request, because they are large or come from the node. */
interface FieldParts {
  readonly sources: readonly { readonly path: string; readonly content: string }[];
  /** Runtime code from the node; null if unknown. */
  readonly runtimeCode: Hex | null;
  readonly creation: CreationFacts;
  /** As in VerifiedReader.readOutputs. */
  readonly outputs: Json;
}

export function fieldsOf(
  record: VerifiedContract,
  view: ContractView,
  { sources, runtimeCode, creation, outputs }: FieldParts,
): Readonly<Record<SourcifyField, unknown>> {
  const contents = Object.fromEntries(sources.map(({ path, content }) => [path, { content }]));
  const settings = readSettings(record.settings);
  return {
    abi: record.abi,
    sources: contents,
    compilation: compilationOf(record, settings),
    deployment: deploymentOf(view, creation),
    stdJsonInput: { language: record.language, sources: contents, settings },
    signatures: signaturesOf(record),
    proxyResolution: proxyOf(view),
    creationBytecode: {
      ...bytecodeOf(partIn(partIn(outputs, 'evm'), 'bytecode'), creation.code),
      transformationValues: valuesOf('constructorArguments', record.constructorArguments),
    },
    runtimeBytecode: runtimeOf(record, partIn(partIn(outputs, 'evm'), 'deployedBytecode'), runtimeCode),
    metadata: parseMetadata(outputs['metadata']),
    storageLayout: outputs['storageLayout'] ?? null,
    userdoc: outputs['userdoc'] ?? null,
    devdoc: outputs['devdoc'] ?? null,
    stdJsonOutput: outputOf(record, outputs),
  };
}

/** The output of the compiler for this contract. Null if no output is stored. */
function outputOf({ path, name, abi, files }: VerifiedContract, outputs: Json): Json | null {
  if (Object.keys(outputs).length === 0) return null;
  const { metadata, ...otherOutputs } = outputs;
  const text = metadata === undefined || typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
  return {
    contracts: { [path]: { [name]: { abi, metadata: text, ...otherOutputs } } },
    sources: Object.fromEntries(files.map((file, id) => [file.path, { id }])),
  };
}

/** The compiler writes the metadata as text. */
function parseMetadata(metadata: unknown): unknown {
  try {
    return typeof metadata === 'string' ? JSON.parse(metadata) : (metadata ?? null);
  } catch {
    return null;
  }
}

function partIn(value: Json, key: string): Json {
  const partValue = value[key];
  return typeof partValue === 'object' && partValue !== null ? { ...partValue } : {};
}

function compilationOf(record: VerifiedContract, compilerSettings: Json): Json {
  return {
    language: record.language,
    compiler: record.compiler,
    compilerVersion: record.compilerVersion,
    compilerSettings,
    name: record.name,
    fullyQualifiedName: `${record.path}:${record.name}`,
  };
}

function deploymentOf({ facts }: ContractView, { index }: CreationFacts): Json {
  const creation = facts?.creation ?? null;
  const creator = creation?.creator ?? null;
  return {
    transactionHash: creation?.txHash ?? null,
    blockNumber: creation === null ? null : String(creation.block),
    transactionIndex: index === null ? null : String(index),
    deployer: creator === null ? null : getAddress(creator),
  };
}

const NO_BYTECODE: Json = Object.fromEntries(BYTECODE_PARTS.map((part) => [part, null]));

function valuesOf(name: string, value: unknown): Json | null {
  return value === null ? null : { [name]: value };
}

/** `compiledCode` is the code in the output of the compiler; empty if it is not stored. */
function bytecodeOf(compiledCode: Json, onchainBytecode: Hex | null): Json {
  const { object, sourceMap = null, linkReferences = null } = compiledCode;
  const recompiledBytecode = typeof object === 'string' ? `0x${object.replace(/^0x/, '')}` : null;
  return { ...NO_BYTECODE, onchainBytecode, recompiledBytecode, sourceMap, linkReferences };
}

function runtimeOf({ libraries }: VerifiedContract, compiledCode: Json, onchainBytecode: Hex | null): Json {
  const { immutableReferences = null } = compiledCode;
  const libraryValues = valuesOf('libraries', Object.keys(libraries).length === 0 ? null : libraries);
  return {
    ...bytecodeOf(compiledCode, onchainBytecode),
    immutableReferences,
    transformationValues: libraryValues,
  };
}

function signaturesOf({ abi }: VerifiedContract): Json {
  const signatures = listSignatures(abi);
  const signaturesOfKind = (kind: 'function' | 'event' | 'error'): Json[] =>
    signatures
      .filter((each) => each.kind === kind)
      .map(({ signature }) => ({
        signature,
        signatureHash32: topicOf(signature),
        signatureHash4: selectorOf(signature),
      }));
  return {
    function: signaturesOfKind('function'),
    event: signaturesOfKind('event'),
    error: signaturesOfKind('error'),
  };
}

function proxyOf({ facts, implementations }: ContractView): Json {
  const proxy = facts?.code?.proxy ?? null;
  return {
    isProxy: proxy !== null,
    proxyType: proxy === null ? null : PROXY_TYPES[proxy.kind],
    implementations: implementations.map(({ address, name }) => ({
      address: getAddress(address),
      ...(name === null ? {} : { name }),
    })),
  };
}

function readSettings(text: string): Json {
  try {
    const settings: unknown = JSON.parse(text);
    return typeof settings === 'object' && settings !== null ? { ...settings } : {};
  } catch {
    return {};
  }
}
