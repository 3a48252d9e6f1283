/**
 * Derives the constructor arguments of a contract from its twin, a verified contract with the same code. Both
 * creation codes start with the same bytes, and it is known where the twin's arguments start. The contract's
 * arguments start at the same place. Asks the nodes for two transactions, once per contract.
 */
import { LRUCache } from 'lru-cache';

import { checkArguments } from '../../domain/creation';
import type { Hex } from '../../domain/hex';
import type { VerifiedContract, VerifiedReader } from '../../domain/verifiedContract';
import { findVerification, type ContractFacts } from './contractFacts';
import type { ContractReader } from './contracts';
import { readCreation } from './creationCode';
import type { NodeRelay } from '../head/nodeRelay';
import { TIME_BUDGETS, orNull } from '../head/timeBudgets';

const ARGUMENTS_KEPT = 5_000;
/** Time in ms after a failed attempt until the next attempt. */
const RETRY_MS = 10_000;

interface TwinArgumentsDeps {
  readonly contracts: Pick<ContractReader, 'find'>;
  readonly verified: Pick<VerifiedReader, 'find'>;
  readonly relayOf: (chainId: number) => NodeRelay | null;
}

/** The arguments; null if they are unknown or not found in time. Never rejects. */
export type TwinArguments = (record: VerifiedContract, facts: ContractFacts | null) => Promise<Hex | null>;

export function createTwinArguments(deps: TwinArgumentsDeps): TwinArguments {
  const argumentsByContract = new LRUCache<string, Promise<Hex | null>>({ max: ARGUMENTS_KEPT });
  return async (record, facts) => {
    const { twinOf } = record;
    const creation = facts?.creation ?? null;
    if (twinOf === null || creation === null || creation.factory !== null) return null;
    const ownCreation: CreatedContract = {
      chainId: record.chainId,
      address: record.address,
      transaction: creation.txHash,
    };
    const key = `${ownCreation.chainId} ${ownCreation.address} ${ownCreation.transaction} ${twinOf.chainId} ${twinOf.address}`;
    let argumentsRead = argumentsByContract.get(key);
    if (argumentsRead === undefined) {
      argumentsRead = derive(deps, record, ownCreation, twinOf).catch(() => null);
      argumentsByContract.set(key, argumentsRead);
      void argumentsRead.then((foundArguments) => {
        if (foundArguments === null) argumentsByContract.set(key, Promise.resolve(null), { ttl: RETRY_MS });
      });
    }
    return orNull(argumentsRead, TIME_BUDGETS.nodeMs);
  };
}

/** The result of findVerification, with the contract's own constructor arguments if possible. */
export async function findWholeVerification(
  verified: Pick<VerifiedReader, 'find'>,
  twinArguments: TwinArguments | undefined,
  chainId: number,
  address: Hex,
  facts: ContractFacts | null,
): Promise<VerifiedContract | null> {
  const record = await findVerification(verified, chainId, address, facts);
  if (record === null || record.constructorArguments !== null || twinArguments === undefined) return record;
  return { ...record, constructorArguments: await twinArguments(record, facts) };
}

interface CreatedContract {
  readonly chainId: number;
  readonly address: Hex;
  readonly transaction: Hex;
}

async function derive(
  deps: TwinArgumentsDeps,
  { abi }: VerifiedContract,
  ownCreation: CreatedContract,
  twin: NonNullable<VerifiedContract['twinOf']>,
): Promise<Hex | null> {
  const [record, facts] = await Promise.all([
    deps.verified.find(twin, null),
    deps.contracts.find(twin.chainId, twin.address),
  ]);
  const twinArguments = record?.constructorArguments ?? null;
  const transaction = facts?.creation?.txHash;
  if (twinArguments === null || transaction === undefined) return null;
  const readCreationCode = async (created: CreatedContract): Promise<Hex | null> =>
    (await readCreation(deps.relayOf(created.chainId), created, created.transaction)).code;
  const [ownCode, twinCode] = await Promise.all([
    readCreationCode(ownCreation),
    readCreationCode({ ...twin, transaction }),
  ]);
  if (ownCode === null || twinCode === null || !twinCode.endsWith(twinArguments.slice(2))) return null;
  const argumentsStart = twinCode.length - (twinArguments.length - 2);
  if (ownCode.slice(0, argumentsStart) !== twinCode.slice(0, argumentsStart)) return null;
  const ownArguments: Hex = `0x${ownCode.slice(argumentsStart)}`;
  return checkArguments(abi, ownArguments) === null ? ownArguments : null;
}
