/** What the memory of hashes says is what it was told last, and what it forgot was told longest ago. */
import type { Hex } from '../../../src/domain/hex';
import { createHashMemory } from '../../../src/query/hashMemory';
import { createRandom } from '../../support/createRandom';
import { SEED } from '../../support/seed';

const hashOf = (number: number, salt = 0): Hex =>
  `0x${(BigInt(number + 1) * 0x9e3779b97f4a7c15n + BigInt(salt)).toString(16).padStart(64, 'f')}`;

/** Somewhere in an answer. */
const bytesOf = (hash: Hex): [Buffer, number] => [Buffer.from(`ffff${hash.slice(2)}ff`, 'hex'), 2];

test('it never says another hash than the last one it was told, and forgets only when it is full', () => {
  const random = createRandom(SEED);
  const memory = createHashMemory(16 * 50);
  const told = new Map<number, Hex>();
  let [known, forgotten] = [0, 0];
  for (let round = 0; round < 20_000; round += 1) {
    const number = random.int(3_000);
    if (random() < 0.5) {
      const hash = hashOf(number, random.int(3));
      memory.set(number, ...bytesOf(hash));
      told.set(number, hash);
      expect(memory.get(number)).toBe(hash);
    } else {
      const found = memory.get(number);
      if (found === undefined) forgotten += told.has(number) ? 1 : 0;
      else {
        known += 1;
        expect(found).toBe(told.get(number));
      }
    }
  }
  expect(known).toBeGreaterThan(100);
  expect(forgotten).toBeGreaterThan(100);
});

test('as many blocks fit as it has room for, where they are neighbours; those asked for stay', () => {
  const memory = createHashMemory(1_600);
  for (let number = 32; number < 1_632; number += 1) memory.set(number, ...bytesOf(hashOf(number)));
  for (let number = 32; number < 1_632; number += 1) expect(memory.get(number)).toBe(hashOf(number));
  expect(memory.get(1_632)).toBeUndefined();
  expect(memory.get(31)).toBeUndefined();
  memory.get(40);
  memory.set(9_000_000_000, ...bytesOf(hashOf(5)));
  expect(memory.get(40)).toBe(hashOf(40));
  expect(memory.get(48)).toBeUndefined();
  expect(memory.get(9_000_000_000)).toBe(hashOf(5));
});
