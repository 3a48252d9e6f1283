/**
 * Decodes the moves of shares in bins. Each bin has fungible shares of its own. A pool of Liquidity Book has those of its bins
 * (LBToken.sol of traderjoe-xyz/joe-v2). For PancakeSwap Infinity, the BinPositionManager has those of all pools, and their
 * number is a hash of the pool and the bin (BinFungibleToken.sol and BinTokenLibrary.sol of pancakeswap/infinity-periphery).
 */
import { keccak256 } from 'ethers';

import type { PositionEventRow } from '../../clickhouse/schema/tables';
import type { ChainLog } from '../../domain/block';
import { addressOfWord, numberToHex, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { readArrays } from '../../protocols/abiArrays';
import type { PoolEvent } from '../../protocols/protocol';
import { addressOfTopic, isAddressTopic } from '../../protocols/words';

/** Topic of TransferBatch(address indexed sender, address indexed from, address indexed to, uint256[] ids, uint256[] amounts), as of ERC-1155. */
export const TRANSFER_BATCH: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
/** Topic of Mint of the BinPoolManager (infinityBin.ts), which comes before the shares of the bins. */
export const BIN_MINT: Hex = '0x7b6bc49b385af8644341f07a67cd976bf9daf2bdd5d71668e651a3a792e318e1';

/** Ids of bins are below this number. */
const ID_END = 1n << 24n;
/** More bins than the gas of a block allows to change. */
const BINS_MAX = 4_096;

export interface ShareRules {
  readonly positionManagers: ReadonlySet<Hex>;
  /** Whether the contract is a pool that has the shares of its own bins. */
  keepsShares(contract: Hex): boolean;
  decodePoolEvent(log: ChainLog): PoolEvent | null;
}

type Place = Pick<PositionEventRow, 'pair' | 'tick_lower' | 'tick_upper'>;
type ShareMove = Place & Pick<PositionEventRow, 'token_id' | 'sender' | 'recipient' | 'amount0'>;

/** The bins of the mints of one transaction, by the number of their shares, which no other bin has. */
export type BinPlaces = Map<bigint, Place>;

/**
 * Reads the logs of a transaction in their order. The answer has one move for each bin, with the shares in `amount0`; null for
 * a malformed layout. Moves of a manager name the pool only if a Mint of the same transaction came before them.
 */
export function readShareLog(
  { positionManagers, keepsShares, decodePoolEvent }: ShareRules,
  log: ChainLog,
  places: BinPlaces,
): readonly ShareMove[] | null {
  const { address, topics } = log;
  if (topics[0] === BIN_MINT) {
    const event = decodePoolEvent(log);
    const id = topics[1];
    if (id === undefined || event?.kind !== 'mint' || !positionManagers.has(event.owner)) return [];
    for (const bin of event.bins ?? []) places.set(numberOf(id, bin.id), placeOf(addressOfWord(id), bin.id));
    return [];
  }
  if (positionManagers.has(address)) return readMoves(log, (share) => places.get(share) ?? NO_PLACE);
  if (!keepsShares(address)) return [];
  return readMoves(log, (share) => (share < ID_END ? placeOf(address, Number(share)) : null));
}

const NO_PLACE: Place = { pair: ZERO_ADDRESS, tick_lower: 0, tick_upper: 0 };

function placeOf(pair: Hex, bin: number): Place {
  return { pair, tick_lower: bin, tick_upper: bin };
}

function numberOf(poolId: Hex, bin: number): bigint {
  return BigInt(keccak256(`${poolId}${numberToHex(bin).slice(2).padStart(64, '0')}`));
}

function readMoves({ topics, data }: ChainLog, place: (id: bigint) => Place | null): ShareMove[] | null {
  const [, , from, to] = topics;
  if (topics.length !== 4 || !isAddressTopic(from) || !isAddressTopic(to)) return null;
  const [ids, shares] = readArrays(data, 2, 0, BINS_MAX) ?? [];
  if (ids === undefined || shares?.length !== ids.length) return null;
  const parties = { sender: addressOfTopic(from), recipient: addressOfTopic(to) };
  const moves = ids.flatMap((id, i) => {
    const own = place(id);
    return own === null ? [] : [{ token_id: id, ...parties, ...own, amount0: shares[i] ?? 0n }];
  });
  return moves.length === ids.length ? moves : null;
}
