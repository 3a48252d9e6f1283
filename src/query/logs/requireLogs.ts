/** Refuses answers from raw logs while the ingester stores only some of them. */
import { AppError } from '../../errors';
import type { HeadSnapshot } from '../head/headSnapshot';

const NOT_KEPT =
  'this service does not keep the raw logs of contracts: its ingester runs with the setting EXPLORER=off';

/** @throws AppError `logs_not_kept` if only some logs of the newest blocks are stored */
export function requireLogs({ logsFrom }: Pick<HeadSnapshot, 'logsFrom'>): void {
  if (logsFrom === null) throw new AppError('logs_not_kept', NOT_KEPT);
}
