/** What one action of the Etherscan dialect is given and gives. */
import type { EtherscanAnswer } from '../../wire/etherscan';
import type { ChainMoment, ExplorerDeps } from '../explorer/explorerRoute';
import type { AskedParams } from './askedParams';

export interface Ask {
  readonly deps: ExplorerDeps;
  readonly asked: AskedParams;
  readonly chainId: number;
  /** Null where the chain is valid and not stored here. */
  readonly moment: ChainMoment | null;
}

export type Action = (ask: Ask) => Promise<EtherscanAnswer> | EtherscanAnswer;

/** By name in lower case. */
export type Actions = ReadonlyMap<string, Action>;
