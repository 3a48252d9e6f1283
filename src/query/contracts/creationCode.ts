/** Asks the node for the code of a contract, and for the transaction that created it. */
import { z } from 'zod';

import { findCreation, transactionShape } from '../../domain/creation';
import { isHexData, isQuantity, toLowerHex, type Hex } from '../../domain/hex';
import type { ContractId } from '../../domain/verifiedContract';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { NodeRelay } from '../head/nodeRelay';

export interface CreationFacts {
  /** Creation code with arguments; null if unknown, or if another contract created this one. */
  readonly code: Hex | null;
  /** Index of the transaction in its block; null if unknown. */
  readonly index: number | null;
}

const indexShape = z.looseObject({ transactionIndex: z.custom<Hex>(isQuantity) });

/** Never rejects. */
export async function readCreation(
  node: NodeRelay | null,
  { address }: ContractId,
  transaction: Hex | null,
): Promise<CreationFacts> {
  if (node === null || transaction === null) return { code: null, index: null };
  const answer = await node.call('eth_getTransactionByHash', [transaction]).catch(() => null);
  const result = answer !== null && 'result' in answer ? answer.result : null;
  const [parsed, parsedIndex] = [transactionShape.safeParse(result), indexShape.safeParse(result)];
  return {
    code: parsed.success ? (findCreation(parsed.data, address)?.code ?? null) : null,
    index: parsedIndex.success ? Number(parsedIndex.data.transactionIndex) : null,
  };
}

/** The runtime code at the head; null if there is no node, or the node does not answer. Never rejects. */
export async function readCode(
  node: NodeRelay | null,
  head: HeadSnapshot,
  address: Hex,
): Promise<Hex | null> {
  if (node === null) return null;
  const answer = await node.call('eth_getCode', [address, { blockHash: head.hash }]).catch(() => null);
  return answer !== null && 'result' in answer && isHexData(answer.result) ? toLowerHex(answer.result) : null;
}
