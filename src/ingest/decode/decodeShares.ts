/**
 * Decodes the moves of shares in bins. Each bin has fungible shares of its own: LBToken.sol of traderjoe-xyz/joe-v2, and
 * BinFungibleToken.sol of pancakeswap/infinity-periphery. The event is that of ERC-1155.
 */
import type { PositionEventRow } from '../../clickhouse/schema/tables';
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { readArrays } from '../../protocols/abiArrays';
import { ID_END } from '../../protocols/liquidityBook/liquidityBookEvents';
import { addressOfTopic, isAddressTopic } from '../../protocols/words';

/** Topic of TransferBatch(address indexed sender, address indexed from, address indexed to, uint256[] ids, uint256[] amounts). */
export const TRANSFER_BATCH: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

/** More bins than the gas of a block allows to change. */
const BINS_MAX = 4_096;

type ShareMove = Pick<
  PositionEventRow,
  'token_id' | 'sender' | 'recipient' | 'pair' | 'tick_lower' | 'tick_upper' | 'amount0'
>;

/** One move for each bin of the pool that emitted the log, with the shares in `amount0`. Null for a malformed layout. */
export function decodeShares({ address: pair, topics, data }: ChainLog): ShareMove[] | null {
  const [, , from, to] = topics;
  if (topics.length !== 4 || !isAddressTopic(from) || !isAddressTopic(to)) return null;
  const [ids, shares] = readArrays(data, 2, 0, BINS_MAX) ?? [];
  if (ids === undefined || shares?.length !== ids.length || !ids.every((id) => id < ID_END)) return null;
  const parties = { sender: addressOfTopic(from), recipient: addressOfTopic(to) };
  return ids.map((id, i) => ({
    ...{ token_id: id, ...parties, pair },
    ...{ tick_lower: Number(id), tick_upper: Number(id), amount0: shares[i] ?? 0n },
  }));
}
