/**
 * Decodes token transfers from a log, by token standard. A log of another standard or a malformed log gives no
 * transfers. Pure.
 */
import { AbiCoder } from 'ethers';
import { z } from 'zod';

import { addressOfWord, type Hex } from '../../domain/hex';
import type { TopicPosition } from '../../query/logs/logFilter';

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Topics of the events TransferSingle(address,address,address,uint256,uint256) and
 * TransferBatch(address,address,address,uint256[],uint256[]). */
const TRANSFER_SINGLE: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const TRANSFER_BATCH: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
/** Length of a 32-byte word in hex, with 0x. */
const WORD_LENGTH = 66;
/** Most items of one batch. The dialect does not show further items. */
const BATCH_ITEMS_MAX = 1_000;

export interface TokenMove {
  readonly from: Hex;
  readonly to: Hex;
  /** Amount in raw units of a fungible token; null for ERC-721, where the amount is always one. */
  readonly amount: bigint | null;
  /** Id of the token; null for a fungible token. */
  readonly tokenId: bigint | null;
}

interface MoveLog {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

export interface TokenKind {
  readonly topics0: readonly Hex[];
  /** Positions of sender and recipient among the topics. */
  readonly from: TopicPosition;
  readonly to: TopicPosition;
  /** Number of bytes of data that are needed to recognise and decode a log of this kind. */
  readonly dataMax: number;
  read(log: MoveLog): readonly TokenMove[];
}

export const ERC20: TokenKind = {
  topics0: [TRANSFER],
  from: 1,
  to: 2,
  dataMax: 64,
  read({ topics, data }) {
    const [, from, to] = topics;
    if (topics.length !== 3 || from === undefined || to === undefined || data.length !== WORD_LENGTH)
      return [];
    return [{ from: addressOfWord(from), to: addressOfWord(to), amount: BigInt(data), tokenId: null }];
  },
};

export const ERC721: TokenKind = {
  topics0: [TRANSFER],
  from: 1,
  to: 2,
  dataMax: 0,
  read({ topics }) {
    const [, from, to, id] = topics;
    if (from === undefined || to === undefined || id === undefined) return [];
    return [{ from: addressOfWord(from), to: addressOfWord(to), amount: null, tokenId: BigInt(id) }];
  },
};

/** The ids and the amounts of a batch. */
const batchShape = z.tuple([z.array(z.bigint()), z.array(z.bigint())]);

/** Topic 1 of the ERC-1155 transfer events is the operator, so sender and recipient are topics 2 and 3. */
export const ERC1155: TokenKind = {
  topics0: [TRANSFER_SINGLE, TRANSFER_BATCH],
  from: 2,
  to: 3,
  dataMax: Infinity,
  read({ topics, data }) {
    const [topic0, , from, to] = topics;
    if (from === undefined || to === undefined) return [];
    const senderAndRecipient = { from: addressOfWord(from), to: addressOfWord(to) };
    return readAmounts(topic0 === TRANSFER_BATCH, data).map(([tokenId, amount]) => ({
      ...senderAndRecipient,
      tokenId,
      amount,
    }));
  },
};

/** Token ids with their amounts. The list is empty for malformed data, or if the two lists have different
 * lengths. */
function readAmounts(isBatch: boolean, data: Hex): [bigint, bigint][] {
  const types = isBatch ? ['uint256[]', 'uint256[]'] : ['uint256', 'uint256'];
  try {
    const decoded: unknown[] = AbiCoder.defaultAbiCoder().decode(types, data).toArray(true);
    const [ids, amounts] = batchShape.parse(isBatch ? decoded : decoded.map((value) => [value]));
    if (ids.length !== amounts.length) return [];
    return ids.slice(0, BATCH_ITEMS_MAX).map((id, index) => [id, amounts[index] ?? 0n]);
  } catch {
    return [];
  }
}
