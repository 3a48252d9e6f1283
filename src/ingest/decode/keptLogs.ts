/**
 * Chooses the raw logs that are always kept: with EXPLORER=off only these logs are stored, and retention deletes no
 * log with a kept topic. Only the explorer reads the other logs.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { PROTOCOLS } from '../../protocols/registry';

/**
 * topic0 of Upgraded, BeaconUpgraded and DiamondCut. These logs are needed at any age, because an old log is
 * decoded with the implementation that the proxy had at that block.
 */
const UPGRADE_TOPICS: readonly Hex[] = [
  '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
  '0x8faa70878671ccd212d20771b795c50af8fd3ff6cf27f4bde57e5d4de0aeb673',
];

/**
 * topic0 of logs that are kept at any age: proxy upgrades, and the logs from which protocols learn about pools later.
 */
export const KEPT_TOPICS: ReadonlySet<Hex> = new Set([
  ...UPGRADE_TOPICS,
  ...[...PROTOCOLS.values()].flatMap(({ keptTopics }) => keptTopics),
]);

/**
 * topic0 of Transfer(address,address,uint256) and OwnershipTransferred(address,address). Most contracts emit one of them
 * from the zero address when they are created. The creator of a token is found by the first log of its contract.
 */
const BIRTH_TOPICS: ReadonlySet<Hex> = new Set<Hex>([
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0',
]);
const ZERO_TOPIC: Hex = `0x${'00'.repeat(32)}`;

/** Whether the log is stored even with EXPLORER=off. Depends only on the log, so that a repeated read agrees. */
export function isKeptLog({ topics }: Pick<ChainLog, 'topics'>): boolean {
  const [topic0, topic1] = topics;
  if (topic0 === undefined) return false;
  return (
    KEPT_TOPICS.has(topic0) || (BIRTH_TOPICS.has(topic0) && topics.length === 3 && topic1 === ZERO_TOPIC)
  );
}
