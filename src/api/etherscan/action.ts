/** What one action of the Etherscan dialect is given and gives. */
import { z } from 'zod';

import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { etherscanAnswerShape } from '../../wire/etherscan';
import type { ChainMoment, ExplorerDeps } from '../explorer/explorerRoute';
import type { AskedParams } from './askedParams';

/** What the explorer reads, and what only this dialect asks for. */
export interface DialectDeps extends ExplorerDeps {
  /** USD per whole native coin as of the head; null: no price. */
  readonly nativeUsdOf?: (chainId: number, head: HeadSnapshot) => Promise<number | null>;
}

export interface Ask {
  readonly deps: DialectDeps;
  readonly asked: AskedParams;
  readonly chainId: number;
  /** The client address as the rate limit counts it. */
  readonly client: string;
  /** Null where the chain is valid and not stored here. */
  readonly moment: ChainMoment | null;
}

const handedOnShape = { jsonrpc: z.literal('2.0'), id: z.int() } as const;

/** What a node says is handed on as it is. */
export const dialectAnswerShape = z.union([
  etherscanAnswerShape,
  z.object({ ...handedOnShape, result: z.unknown() }),
  z.object({
    ...handedOnShape,
    error: z.object({ code: z.int(), message: z.string(), data: z.string().optional() }),
  }),
]);
export type DialectAnswer = z.infer<typeof dialectAnswerShape>;

export type Action = (ask: Ask) => Promise<DialectAnswer> | DialectAnswer;

/** By name in lower case. */
export type Actions = ReadonlyMap<string, Action>;
