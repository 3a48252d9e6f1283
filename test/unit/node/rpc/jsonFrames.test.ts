import { JsonFrames } from '../../../../src/node/rpc/jsonFrames';
import { createRandom, type Random } from '../../../support/createRandom';

const TEXTS = ['', '"', '\\', '\\"', '{', '}]', '[[', 'é', '😀', '\n', 'a"b\\', '\u0000'];

function randomValue(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 2 + random.int(2) : random.int(4);
  const size = random.int(4);
  if (kind === 0) return Array.from({ length: size }, () => randomValue(random, depth - 1));
  if (kind === 1)
    return Object.fromEntries(
      Array.from({ length: size }, (_, at) => [`${random.pick(TEXTS)}${at}`, randomValue(random, depth - 1)]),
    );
  return kind === 2 ? random.pick(TEXTS) + random.pick(TEXTS) : random.int(1_000);
}

function framesOf(pieces: readonly Buffer[]): { texts: string[]; isJson: boolean } {
  const texts: string[] = [];
  const frames = new JsonFrames({
    onPart: () => undefined,
    onMessage: (message) => texts.push(message.toString()),
  });
  return { isJson: pieces.every((piece) => frames.add(piece)), texts };
}

test('any sequence of JSON values in any pieces is split into exactly these values', () => {
  const random = createRandom(78);
  for (let round = 0; round < 300; round += 1) {
    const values = Array.from({ length: 1 + random.int(5) }, () => [randomValue(random, 4)]);
    const texts = values.map((value) => JSON.stringify(value, null, random.int(3)));
    const stream = Buffer.from(texts.map((text) => text + random.pick(['', '\n', ' \r\n\t'])).join(''));
    const pieces: Buffer[] = [];
    for (let at = 0; at < stream.length;) {
      const size = 1 + random.int(random.pick([1, 5, 200]));
      pieces.push(stream.subarray(at, at + size));
      at += size;
    }
    expect(framesOf(pieces)).toEqual({ isJson: true, texts });
  }
});

test.each(['x', '"text"', '1', ']', '}', '\0', ',{}', 'null'])(
  'a message that begins with %j is refused',
  (text) => {
    expect(framesOf([Buffer.from(text)]).isJson).toBe(false);
    expect(framesOf([Buffer.from(`{"a":1}${text}`)])).toEqual({ isJson: false, texts: ['{"a":1}'] });
  },
);

test('after it was closed in the middle of a piece, nothing more is handed out', () => {
  const texts: string[] = [];
  const frames = new JsonFrames({
    onPart: () => undefined,
    onMessage: (message) => {
      texts.push(message.toString());
      frames.close();
    },
  });
  expect(frames.add(Buffer.from('{}{}'))).toBe(true);
  expect(frames.add(Buffer.from('{}'))).toBe(true);
  expect(texts).toEqual(['{}']);
});
