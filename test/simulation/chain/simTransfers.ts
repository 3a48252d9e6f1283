/**
 * Random token transfers of the simulated chain: usual and extreme amounts, wrapping of the native coin, and
 * logs that only resemble transfers.
 */
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../../support/random';
import { dataOf, digest, topicOf, type Draft } from '../../support/plainLogs';

const TOPIC = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  deposit: '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
  withdrawal: '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
} as const satisfies Record<string, Hex>;

const ZERO: Hex = `0x${'0'.repeat(40)}`;
const LARGEST = (1n << 256n) - 1n;

/** Makes one log. `wrappedNative` is the token whose Deposit and Withdrawal logs are transfers. */
export function transferLog(random: Random, tokens: readonly Hex[], wrappedNative: Hex): Draft {
  const pickHolder = (): Hex => digest(`holder ${random.int(0, 7)}`, 20);
  const token = random.pick([...tokens]);
  const amount = random.pick([0n, 1n, random.big(60), random.big(120), random.big(255), LARGEST]);
  const from = pickHolder();
  const transfer = (sender: Hex, recipient: Hex): Draft => ({
    address: token,
    topics: [TOPIC.transfer, topicOf(sender), topicOf(recipient)],
    data: dataOf(amount),
  });
  return random.pick<() => Draft>([
    () => transfer(from, pickHolder()),
    () => transfer(from, pickHolder()),
    () => transfer(from, from),
    () => transfer(ZERO, from),
    () => transfer(from, ZERO),
    () => ({ address: wrappedNative, topics: [TOPIC.deposit, topicOf(from)], data: dataOf(random.big(90)) }),
    () => ({
      address: wrappedNative,
      topics: [TOPIC.withdrawal, topicOf(from)],
      data: dataOf(random.big(90)),
    }),
    // A Deposit of another contract, and logs that only resemble transfers: an NFT transfer, a log with an extra
    // word, a log with an invalid address.
    () => ({
      address: token === wrappedNative ? ZERO : token,
      topics: [TOPIC.deposit, topicOf(from)],
      data: dataOf(5n),
    }),
    () => ({
      ...transfer(from, pickHolder()),
      topics: [TOPIC.transfer, topicOf(from), topicOf(from), topicOf(7n)],
      data: '0x',
    }),
    () => ({ ...transfer(from, pickHolder()), data: dataOf(1n, 2n) }),
    () => ({ ...transfer(from, pickHolder()), topics: [TOPIC.transfer, topicOf(LARGEST), topicOf(from)] }),
  ])();
}
