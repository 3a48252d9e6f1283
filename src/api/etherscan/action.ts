/** Types of an action of the Etherscan dialect: its input and its answer. */
import { z } from 'zod';

import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { etherscanAnswerShape } from '../../wire/dialects/etherscan';
import type { ChainAtHead, ExplorerDeps } from '../explorerScope';
import type { AskedParams } from './askedParams';

/** The dependencies of the explorer, and dependencies that only the Etherscan dialect needs. */
export interface DialectDeps extends ExplorerDeps {
  /** USD per whole native coin at the head; null if the native coin has no price. */
  readonly nativeUsdOf?: (chainId: number, head: HeadSnapshot) => Promise<number | null>;
}

export interface Ask {
  readonly deps: DialectDeps;
  readonly asked: AskedParams;
  readonly chainId: number;
  /** The client under which requests are limited: its IPv4 address, or the /64 of its IPv6 address. */
  readonly client: string;
  /** The head of the chain. Null if the chain is valid but this service does not store it. */
  readonly chainAtHead: ChainAtHead | null;
}

/** Fields of a node's answer, which is passed on unchanged. */
const handedOnShape = { jsonrpc: z.literal('2.0'), id: z.int() } as const;

/** An answer in the form of Etherscan, or the answer of a node. */
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

/** The actions of a module by lower-case name. */
export type Actions = ReadonlyMap<string, Action>;
