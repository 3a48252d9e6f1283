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

const KEPT = 5_000;
/** Time in ms after a failed attempt until the next attempt. */
const UNKNOWN_MS = 10_000;

interface TwinArgumentsDeps {
  readonly contracts: Pick<ContractReader, 'find'>;
  readonly verified: Pick<VerifiedReader, 'find'>;
  readonly relayOf: (chainId: number) => NodeRelay | null;
}

/** The arguments; null if they are unknown or not found in time. Never rejects. */
export type TwinArguments = (record: VerifiedContract, facts: ContractFacts | null) => Promise<Hex | null>;

export function createTwinArguments(deps: TwinArgumentsDeps): TwinArguments {
  const known = new LRUCache<string, Promise<Hex | null>>({ max: KEPT });
  return async (record, facts) => {
    const { twinOf } = record;
    const creation = facts?.creation ?? null;
    if (twinOf === null || creation === null || creation.factory !== null) return null;
    const own: Made = { chainId: record.chainId, address: record.address, transaction: creation.txHash };
    const key = `${own.chainId} ${own.address} ${own.transaction} ${twinOf.chainId} ${twinOf.address}`;
    let asking = known.get(key);
    if (asking === undefined) {
      asking = derive(deps, record, own, twinOf).catch(() => null);
      known.set(key, asking);
      void asking.then((found) => {
        if (found === null) known.set(key, Promise.resolve(null), { ttl: UNKNOWN_MS });
      });
    }
    return orNull(asking, TIME_BUDGETS.nodeMs);
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

interface Made {
  readonly chainId: number;
  readonly address: Hex;
  readonly transaction: Hex;
}

async function derive(
  deps: TwinArgumentsDeps,
  { abi }: VerifiedContract,
  own: Made,
  twin: NonNullable<VerifiedContract['twinOf']>,
): Promise<Hex | null> {
  const [record, facts] = await Promise.all([
    deps.verified.find(twin, null),
    deps.contracts.find(twin.chainId, twin.address),
  ]);
  const told = record?.constructorArguments ?? null;
  const transaction = facts?.creation?.txHash;
  if (told === null || transaction === undefined) return null;
  const read = async (made: Made): Promise<Hex | null> =>
    (await readCreation(deps.relayOf(made.chainId), made, made.transaction)).code;
  const [code, twins] = await Promise.all([read(own), read({ ...twin, transaction })]);
  if (code === null || twins === null || !twins.endsWith(told.slice(2))) return null;
  const begin = twins.length - (told.length - 2);
  if (code.slice(0, begin) !== twins.slice(0, begin)) return null;
  const rest: Hex = `0x${code.slice(begin)}`;
  return checkArguments(abi, rest) === null ? rest : null;
}
