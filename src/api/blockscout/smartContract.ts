/**
 * Blockscout's API version 2 for verified contracts: /api/v2/smart-contracts/{address}, and
 * /{chainId}/api/v2/… for another chain. The Blockscout clients of whatsabi and hardhat append this path to a
 * base URL. An unverified contract is a 404, which these clients expect.
 * https://docs.blockscout.com/devs/apis/rest
 */
import { AbiCoder, getAddress } from 'ethers';

import { findAddress } from '../../domain/address';
import type { Hex } from '../../domain/hex';
import type { ProxyKind } from '../../domain/proxies';
import type { AbiParameter, VerifiedContract } from '../../domain/verifiedContract';
import { readContractView, type ContractView } from '../../query/contracts/contractView';
import { readCode, readCreation } from '../../query/contracts/creationCode';
import {
  blockscoutContractShape,
  blockscoutInvalidShape,
  blockscoutMissingShape,
} from '../../wire/dialects/blockscout';
import { answering, Refusal } from '../answering';
import type { DialectDeps } from '../etherscan/action';
import { chainParam, questionOf, type ChainAtHead } from '../explorerScope';
import { requiredAddressParam } from '../params';
import type { Route } from '../route';
import { smartContractList } from './smartContractList';

type Json = Readonly<Record<string, unknown>>;

/** Blockscout's names for the kinds of proxies. */
const PROXY_TYPES: Readonly<Record<ProxyKind, string>> = {
  eip1967: 'eip1967',
  eip1967_beacon: 'eip1967_beacon',
  eip1822: 'eip1822',
  eip1167: 'eip1167',
  openzeppelin_legacy: 'eip1967_oz',
  eip2535: 'eip2535',
  eip7702: 'eip7702',
  safe: 'master_copy',
  custom_slot: 'unknown',
  beacon: 'unknown',
};

export function blockscoutRoutes(deps: DialectDeps): Route[] {
  return ['/api/v2/smart-contracts', '/:chainId/api/v2/smart-contracts'].flatMap((path) => [
    smartContractList(deps, path),
    smartContract(deps, `${path}/:address`),
  ]);
}

function smartContract(deps: DialectDeps, path: string): Route {
  const chainPathParam = path.includes(':chainId') ? { chainId: chainParam(deps.chainIds) } : {};
  return {
    path,
    doc: {
      summary: 'A verified contract in the format of Blockscout',
      description:
        'The answer has name, language, compiler_version, optimization_enabled, optimization_runs, ' +
        'evm_version, abi, source_code, file_path, additional_sources, compiler_settings, ' +
        'external_libraries, constructor_args, decoded_constructor_args, verified_at, is_verified, ' +
        'is_fully_verified, is_partially_verified, proxy_type and implementations. A contract that is not ' +
        'verified is a 404.',
      tag: 'explorer',
      path: { ...chainPathParam, address: requiredAddressParam('address', 'Address of the contract') },
      answer: blockscoutContractShape,
      hasExample: false,
      errors: [503],
      dialectErrors: { 404: blockscoutMissingShape, 422: blockscoutInvalidShape },
    },
    handle: answering(deps.cache, (ctx) => {
      const { chainId: chainText, address: text = '' } = ctx.params;
      const chainId = deps.chainIds.find((id) => String(id) === (chainText ?? String(deps.chainIds[0])));
      if (chainId === undefined) throw new Refusal(404, NOT_FOUND);
      const address = findAddress(text);
      if (address === null) throw new Refusal(422, INVALID_ADDRESS);
      return questionOf(deps, ctx, chainId, `blockscout ${address}`, (chainAtHead) =>
        readAnswer(deps, chainId, chainAtHead, address),
      );
    }),
  };
}

const NOT_FOUND = { message: 'Not found' } as const;
const INVALID_ADDRESS = {
  errors: [{ title: 'Invalid value', source: { pointer: '/address_hash' }, detail: 'Invalid format' }],
} as const;

/** Reads a contract with its verification. Throws a 404 if it is not verified. */
async function readAnswer(
  deps: DialectDeps,
  chainId: number,
  chainAtHead: ChainAtHead | null,
  address: Hex,
): Promise<Json> {
  const view = await readContractView(deps, chainId, chainAtHead, address);
  const { record } = view;
  if (record === null) throw new Refusal(404, NOT_FOUND);
  const node = deps.relayOf?.(chainId) ?? null;
  const transaction = view.facts?.creation?.txHash ?? null;
  const [files, deployedCode, creation] = await Promise.all([
    deps.verified.readSources(record),
    chainAtHead === null ? null : readCode(node, chainAtHead.head, address),
    readCreation(node, { chainId, address }, transaction),
  ]);
  const mainFile = files.find(({ path }) => path === record.path) ?? files[0];
  return {
    name: record.name,
    language: record.language.toLowerCase(),
    compiler_version: record.compiler === 'solc' ? `v${record.compilerVersion}` : record.compilerVersion,
    optimization_enabled: record.optimization,
    optimization_runs: record.runs,
    evm_version: record.evmVersion ?? 'default',
    verified_at: new Date(record.verifiedAt * 1_000).toISOString().replace('.000Z', '.000000Z'),
    abi: record.abi,
    source_code: mainFile?.content ?? '',
    file_path: mainFile?.path ?? record.path,
    additional_sources: files
      .filter((file) => file !== mainFile)
      .map(({ path, content }) => ({ file_path: path, source_code: content })),
    compiler_settings: readSettings(record.settings),
    external_libraries: Object.entries(record.libraries).map(([name, libraryAddress]) => ({
      name: name.slice(name.lastIndexOf(':') + 1),
      address_hash: getAddress(libraryAddress),
    })),
    constructor_args: record.constructorArguments?.slice(2) ?? null,
    decoded_constructor_args: decodeArguments(record),
    license_type: record.license,
    ...verificationOf(record),
    ...proxyOf(view),
    deployed_bytecode: deployedCode,
    creation_bytecode: creation.code,
    creation_status: view.facts?.creation == null ? null : 'success',
    certified: false,
  };
}

function verificationOf({ status, source, twinOf }: VerifiedContract): Json {
  return {
    is_verified: true,
    is_fully_verified: status === 'exact_match',
    is_partially_verified: status === 'match',
    is_changed_bytecode: false,
    is_verified_via_sourcify: source === 'sourcify',
    verified_twin_address_hash: twinOf === null ? null : getAddress(twinOf.address),
  };
}

function proxyOf({ facts, implementations }: ContractView): Json {
  const proxy = facts?.code?.proxy ?? null;
  return {
    proxy_type: proxy === null ? null : PROXY_TYPES[proxy.kind],
    implementations: implementations.map(({ address, name }) => ({
      address_hash: getAddress(address),
      name,
    })),
    conflicting_implementations: null,
  };
}

/** Pairs constructor arguments with their parameters. Returns null if there are no arguments, or if they
 * cannot be decoded. */
function decodeArguments({ abi, constructorArguments }: VerifiedContract): unknown[] | null {
  const inputs = abi.find(({ type }) => type === 'constructor')?.inputs ?? [];
  if (constructorArguments === null || inputs.length === 0) return null;
  try {
    const values: unknown[] = AbiCoder.defaultAbiCoder()
      .decode(inputs.map(toDecodable), constructorArguments)
      .toArray(true);
    return inputs.map((input, index) => [textOf(values[index]), { name: input.name, type: input.type }]);
  } catch {
    return null;
  }
}

/**
 * Writes a parameter as text, such as `tuple(uint256 a) b`, because ethers' ABI coder accepts no readonly
 * arrays.
 */
function toDecodable({ name, type, components }: AbiParameter): string {
  return components === undefined
    ? `${type} ${name}`
    : `${tupleOf(components)}${type.slice('tuple'.length)} ${name}`;
}

function tupleOf(components: readonly AbiParameter[]): string {
  return `tuple(${components.map(toDecodable).join(', ')})`;
}

function textOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textOf);
  return typeof value === 'bigint' ? value.toString() : value;
}

function readSettings(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
