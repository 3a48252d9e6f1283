/** Tests the picture of a shared link: its candles, hostile names, and bars at the limits. */
import { createPreviewPainter } from '../../../../src/api/preview/previewPainter';
import { BARS_MAX, previewSvg, type Preview } from '../../../../src/api/preview/previewSvg';

const HOUR = 3_600;
const barAt = (index: number, open: number, close: number): Preview['bars'][number] => ({
  time: 1_764_201_600 + index * HOUR,
  open,
  close,
  high: Math.max(open, close) * 1.01,
  low: Math.min(open, close) * 0.99,
});
const BARS = Array.from({ length: 60 }, (_, index) =>
  barAt(index, 1 + index / 50, 1 + ((index * 7) % 60) / 50),
);
const PREVIEW: Preview = { name: 'HEX / WPLS', sign: '$', unit: '', bars: BARS, seconds: HOUR };

const candles = (svg: string): string[] => svg.match(/<rect x=[^>]*>/g) ?? [];
const textsOf = (svg: string): string => svg.replace(/<[^>]*>/g, '\n');
const render = (svg: string): Promise<Buffer> => createPreviewPainter().paint(svg);
/** Width and height in the header of a PNG. */
const sizeOf = (png: Buffer): number[] => [png.readUInt32BE(16), png.readUInt32BE(20)];

test('the picture has one candle for each of the newest bars, green for a rise and red for a fall', () => {
  const found = candles(previewSvg(PREVIEW));
  expect(found).toHaveLength(BARS_MAX);
  const falls = BARS.slice(-BARS_MAX).map(({ open, close }) => close < open);
  expect(found.map((candle) => candle.includes('#ef6a6a'))).toEqual(falls);
});

test('the height of a candle is proportional to the difference of its prices', () => {
  const heightOf = (candle: string): number => Number(/height="([\d.]+)"/.exec(candle)?.[1]);
  const [first = 0, second = 0] = candles(
    previewSvg({ ...PREVIEW, bars: [barAt(0, 100, 110), barAt(1, 110, 130)] }),
  ).map(heightOf);
  expect(second / first).toBeCloseTo(2, 1);
});

test.each([
  ['markup', '</text><script>alert(1)</script><image href="http://x/y.png"/>'],
  ['control characters and marks of direction', 'A\u202e\u0000\u0007\u200b\ufeffB'],
  ['a long text', 'W'.repeat(5_000)],
  ['other scripts and emoji', '漢字😀é́ الحب 한국'],
  ['entities', '&lt;&amp;]]>&#0;'],
  ['lone surrogates', '\ud800\udfff'],
])(
  'a name with %s is text of the picture, short and without characters that XML forbids',
  async (_, name) => {
    const svg = previewSvg({ ...PREVIEW, name, unit: name });
    expect(svg).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\uFFFE\uFFFF]/u);
    const tags = new Set([...svg.matchAll(/<\/?([a-z]+)/gi)].map(([, tag]) => tag));
    expect([...tags].sort()).toEqual(['line', 'rect', 'svg', 'text', 'tspan']);
    expect(svg.length).toBeLessThan(20_000);
    expect(
      textsOf(svg)
        .split('\n')
        .every((text) => text.length < 120),
    ).toBe(true);
    expect(sizeOf(await render(svg))).toEqual([1200, 630]);
  },
);

test('names in any script and emoji are drawn, and not as empty boxes or not at all', async () => {
  const names = [
    '',
    '漢字',
    '水火',
    '한국',
    'かな',
    'Кот',
    'Ψλ',
    'حب',
    'שם',
    'ไท',
    'हि',
    'ქა',
    'አማ',
    '🚀🐸',
    '😀🔥',
    '₿₮',
    '𝕏𝔸',
  ];
  const pictures = new Set<string>();
  for (const name of names)
    pictures.add((await render(previewSvg({ ...PREVIEW, name, bars: [] }))).toString('latin1'));
  // Names of equal length would be equal boxes.
  expect(pictures.size).toBe(names.length);
});

test('a long name is smaller, so that it fits into the picture', () => {
  const sizeOfName = (name: string): number =>
    Number(/y="100" font-size="(\d+)"/.exec(previewSvg({ ...PREVIEW, name }))?.[1]);
  expect([sizeOfName('HEX / WPLS'), sizeOfName('漢'.repeat(18)), sizeOfName('漢'.repeat(43))]).toEqual([
    60, 60, 25,
  ]);
});

test.each<[string, Preview['bars']]>([
  ['no bar', []],
  ['one flat bar', [{ time: 0, open: 1, high: 1, low: 1, close: 1 }]],
  ['prices of zero', [{ time: 0, open: 0, high: 0, low: 0, close: 0 }]],
  ['huge and tiny prices', [barAt(0, 1e-300, 1e300), barAt(1, 1e300, 1e-300)]],
  ['numbers that are none', [{ time: 0, open: NaN, high: Infinity, low: -Infinity, close: NaN }]],
])('a series with %s gives a picture without broken numbers', async (_, bars) => {
  const svg = previewSvg({ ...PREVIEW, bars });
  expect(svg).not.toMatch(/NaN|Infinity|undefined|null/);
  expect(sizeOf(await render(svg))).toEqual([1200, 630]);
});

test('a process begins four pictures per second, and paints them one after another', async () => {
  let at = 0;
  let running = 0;
  const painter = createPreviewPainter(
    () => at,
    async () => {
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      running -= 1;
      return Buffer.from('png');
    },
  );
  expect(Array.from({ length: 6 }, () => painter.reservePicture())).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  at += 250;
  expect([painter.reservePicture(), painter.reservePicture()]).toEqual([true, false]);
  at += 60_000;
  expect(Array.from({ length: 5 }, () => painter.reservePicture())).toEqual([true, true, true, true, false]);
  await Promise.all(Array.from({ length: 3 }, () => painter.paint('<svg/>')));
});

test('while eight pictures wait, no further picture begins', async () => {
  let at = 0;
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const painter = createPreviewPainter(
    () => at,
    async () => {
      await held;
      return Buffer.from('png');
    },
  );
  const paints: Promise<Buffer>[] = [];
  for (; paints.length < 8; at += 1_000) {
    expect(painter.reservePicture()).toBe(true);
    paints.push(painter.paint('<svg/>'));
  }
  expect(painter.reservePicture()).toBe(false);
  finish();
  await Promise.all(paints);
  expect(painter.reservePicture()).toBe(true);
});
