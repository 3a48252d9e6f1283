/** The calls that ask the node about the bins of a pool. */
import type { ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { AskedPool } from './tickQuestions';

export interface BinQuestions {
  /** The first two words of the answer are the reserves. */
  binCall(pool: AskedPool, bin: number): ContractCall;
  supplyCall(pool: AskedPool, bin: number): ContractCall;
  /** The shares of all owners of the bin. Null if the answer does not tell. */
  readSupply(answer: Hex | null | undefined): bigint | null;
}
