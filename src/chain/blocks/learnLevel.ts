/**
 * Reads some blocks before a range, to learn which proof the chain allows. A node that lies about the first block that is
 * needed is then found by the other blocks.
 */
import { AppError } from '../../errors';
import type { Endpoint } from '../rpc/endpoint';
import type { BlockChecker } from './blockChecker';
import { BlockHalves, fetchByReceipts } from './fetchByReceipts';

const SAMPLE_BLOCKS = 8;

export class LevelSample {
  /** Endpoints that sent blocks to learn from. */
  private readonly studied = new Set<number>();

  /** If the level is not known yet, learns from up to eight blocks before `from`, once per endpoint. */
  async learn(endpoint: Endpoint, checker: BlockChecker, from: number, signal: AbortSignal): Promise<void> {
    if (!checker.isLearning || this.studied.has(endpoint.id)) return;
    const first = Math.max(0, from - SAMPLE_BLOCKS);
    const numbers = Array.from({ length: from - first }, (_, index) => first + index);
    if (numbers.length === 0) return;
    try {
      const answers = await fetchByReceipts(endpoint, numbers, new BlockHalves(), signal, true);
      checker.study(endpoint.id, answers);
      if (answers.some((answer) => !(answer instanceof AppError))) this.studied.add(endpoint.id);
    } catch (error) {
      // The range itself is fetched next, and its errors count.
      if (!(error instanceof AppError) || signal.aborted) throw error;
    }
  }
}
