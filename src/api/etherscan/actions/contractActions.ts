/** The actions of module=contract: ABIs, sources, creations and the list of contracts. */
import type { Hex } from '../../../domain/hex';
import type { ContractId, VerifiedContract } from '../../../domain/verifiedContract';
import { findVerification, type ContractFacts } from '../../../query/contracts/contractFacts';
import { findImplementation } from '../../../query/contracts/contractView';
import { readCreation } from '../../../query/contracts/creationCode';
import { findWholeVerification } from '../../../query/contracts/twinArguments';
import type { NodeRelay } from '../../../query/head/nodeRelay';
import type { Action, Actions, Ask } from '../action';
import { dialectError, EMPTY_TEXTS, listAnswer, ok, refuse, TEXTS } from '../answers';
import { addressOf, badFormat, needAddress, readPage, textOf, type AskedParams } from '../askedParams';
import { checkProxyVerification, verifyProxyContract } from './proxyVerification';
import { checkVerifyStatus, verifySourceCode } from './verifyActions';
import { writeSources } from '../writeSources';

const CREATIONS_MAX = 10;
const CONTRACTS_PER_PAGE_MAX = 1_000;

export const contractActions: Actions = new Map<string, Action>([
  ['getabi', getAbi],
  ['getsourcecode', getSourceCode],
  ['getcontractcreation', getContractCreation],
  ['listcontracts', listContracts],
  ['verifysourcecode', verifySourceCode],
  ['checkverifystatus', checkVerifyStatus],
  ['verifyproxycontract', verifyProxyContract],
  ['checkproxyverification', checkProxyVerification],
]);

async function getAbi({ deps, asked, chainId }: Ask) {
  const address = needAddress(asked);
  const facts = await deps.contracts.find(chainId, address);
  const record = await findVerification(deps.verified, chainId, address, facts);
  return record === null ? refuse(TEXTS.unverified) : ok(JSON.stringify(record.abi));
}

async function getSourceCode(ask: Ask) {
  const { deps, asked, chainId } = ask;
  const address = needAddress(asked);
  const facts = await deps.contracts.find(chainId, address);
  const [record, implementation] = await Promise.all([
    findWholeVerification(deps.verified, deps.twinArguments, chainId, address, facts),
    findImplementation(ask.chainAtHead, facts),
  ]);
  // Clients need a valid address if Proxy is 1. Proxy is therefore 0 for a proxy with several or unknown
  // implementations.
  const proxyFields = {
    Proxy: implementation === null ? '0' : '1',
    Implementation: implementation ?? '',
    SwarmSource: '',
  };
  if (record === null) return ok([{ ...UNVERIFIED, ...proxyFields }]);
  const item = {
    SourceCode: writeSources(record, await deps.verified.readSources(record)),
    ABI: JSON.stringify(record.abi),
    ContractName: record.name,
    CompilerVersion: versionOf(record),
    CompilerType: record.compiler,
    OptimizationUsed: record.optimization ? '1' : '0',
    Runs: String(record.runs),
    ConstructorArguments: record.constructorArguments?.slice(2) ?? '',
    EVMVersion: record.evmVersion ?? 'Default',
    Library: Object.entries(record.libraries)
      .map(([name, libraryAddress]) => `${name.slice(name.lastIndexOf(':') + 1)}:${libraryAddress.slice(2)}`)
      .join(';'),
    ContractFileName: record.path,
    LicenseType: record.license ?? '',
    ...proxyFields,
    SimilarMatch: record.twinOf?.address ?? '',
  };
  return ok([item]);
}

const UNVERIFIED = {
  SourceCode: '',
  ABI: TEXTS.unverified,
  ContractName: '',
  CompilerVersion: '',
  OptimizationUsed: '',
  Runs: '',
  ConstructorArguments: '',
  EVMVersion: 'Default',
  Library: '',
  LicenseType: 'Unknown',
} as const;

function versionOf({ compiler, compilerVersion }: VerifiedContract): string {
  return compiler === 'vyper' ? `vyper:${compilerVersion}` : `v${compilerVersion}`;
}

async function getContractCreation({ deps, asked, chainId }: Ask) {
  const addresses = readAddresses(asked);
  const contractFacts = await deps.contracts.findMany(chainId, addresses);
  const node = deps.relayOf?.(chainId) ?? null;
  const creations = await Promise.all(contractFacts.map((facts) => toCreation(node, { chainId }, facts)));
  return listAnswer(creations.flat(), EMPTY_TEXTS.creations);
}

function readAddresses(asked: AskedParams): Hex[] {
  const paramName = 'contractaddresses';
  const texts = (textOf(asked, paramName) ?? '').split(',').map((text) => text.trim());
  const addressTexts = texts.filter((text) => text !== '');
  if (addressTexts.length === 0) throw dialectError(TEXTS.noAddress);
  if (addressTexts.length > CREATIONS_MAX) throw badFormat(paramName);
  return [...new Set(addressTexts.map(addressOf))];
}

/**
 * The creation of a contract in the seven keys of Etherscan's format. A pool without a known creator gets its
 * factory as creator, because clients need an address. The creation code is empty without a node, and for a contract
 * that another contract created: no transaction has this code.
 */
async function toCreation(
  node: NodeRelay | null,
  { chainId }: Pick<ContractId, 'chainId'>,
  facts: ContractFacts | null,
) {
  const creation = facts?.creation ?? null;
  if (facts === null || creation === null) return [];
  const creator = creation.creator ?? creation.factory;
  if (creator === null) return [];
  const { code } = await readCreation(node, { chainId, address: facts.address }, creation.txHash);
  return [
    {
      contractAddress: facts.address,
      contractCreator: creator,
      txHash: creation.txHash,
      blockNumber: String(creation.block),
      timestamp: String(creation.timestamp),
      contractFactory: creation.factory ?? '',
      creationBytecode: code ?? '',
    },
  ];
}

const VERIFIED_BY_FILTER: ReadonlyMap<string, boolean | null> = new Map([
  ['verified', true],
  ['1', true],
  ['unverified', false],
  ['3', false],
]);

/** Blockscout's list of contracts. The oldest contracts come first, so pages do not shift. */
async function listContracts({ deps, asked, chainId }: Ask) {
  const { skip, limit } = readPage(asked, CONTRACTS_PER_PAGE_MAX);
  const filter = textOf(asked, 'filter');
  const verified = filter === null ? null : VERIFIED_BY_FILTER.get(filter.toLowerCase());
  if (verified === undefined) throw badFormat('filter');
  const page = { q: null, verified, kind: null, sort: 'created_at', order: 'asc', skip, limit } as const;
  const { addresses } = await deps.contracts.list(chainId, page);
  const facts = await deps.contracts.findMany(chainId, addresses);
  const records = await deps.verified.findMany(
    addresses.map((address, index) => ({ chainId, address, codeHash: facts[index]?.codeHash ?? null })),
  );
  return listAnswer(
    addresses.map((Address, index) => toListed(Address, records[index] ?? null)),
    EMPTY_TEXTS.creations,
  );
}

function toListed(Address: Hex, record: VerifiedContract | null) {
  if (record === null) return { Address, ABI: TEXTS.unverified };
  return {
    Address,
    ABI: JSON.stringify(record.abi),
    ContractName: record.name,
    CompilerVersion: versionOf(record),
    OptimizationUsed: record.optimization ? '1' : '0',
  };
}
