/**
 * GET /preview/pair/{address}.png and /preview/token/{address}.png: the pictures of shared links. A picture shows closed bars
 * only, so that it is made once per bar.
 */
import { findAddress } from '../../domain/address';
import type { Hex } from '../../domain/hex';
import { TIMEFRAME_SECONDS } from '../../domain/timeframes';
import { AppError } from '../../errors';
import { getPairSeries } from '../../query/bars/pairSeries';
import { createTokenSeries } from '../../query/bars/tokenSeries';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { Bar, Currency } from '../../wire/ticks';
import { createByteCache } from '../byteCache';
import type { MarketDeps } from '../marketScope';
import type { Route, RouteContext } from '../route';
import { symbolFigure } from '../web/figures';
import { createPreviewPainter, type PreviewPainter } from './previewPainter';
import { BARS_MAX, previewSvg, type Preview } from './previewSvg';

/** A picture has about 20 kB, so the cache holds some hundred. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024;
const TIMEFRAME = '1h';
const BAR_SECONDS = TIMEFRAME_SECONDS[TIMEFRAME];
const CACHE_CONTROL = 'public, max-age=300';

export const PREVIEW_PATHS = { pair: '/preview/pair/:file', token: '/preview/token/:file' } as const;

type ReadPreview = (address: Hex, head: HeadSnapshot) => Promise<Preview | null>;

export function previewRoutes(deps: MarketDeps, painter: PreviewPainter = createPreviewPainter()): Route[] {
  const cache = createByteCache({ bytesMax: CACHE_BYTES_MAX });
  const routeOf = (kind: 'pair' | 'token', read: ReadPreview): Route => ({
    path: PREVIEW_PATHS[kind],
    doc: {
      summary: `Picture of a ${kind} for previews of shared links`,
      tag: 'service',
      mediaType: 'image/png',
    },
    async handle(ctx) {
      const head = deps.head();
      const file = ctx.params['file'] ?? '';
      const names = head === null ? null : await deps.poolNames.at(head);
      const address = addressOf(names?.resolve(file) ?? file);
      if (address === null)
        throw new AppError('not_found', `there is no picture at ${ctx.path.slice(0, 80)}`);
      if (head === null) throw new AppError('unavailable', 'no block is indexed yet');
      await answerPicture(ctx, `${kind} ${address} ${Math.floor(head.timestamp / BAR_SECONDS)}`, () =>
        read(address, head),
      );
    },
  });
  const answerPicture = async (
    ctx: RouteContext,
    key: string,
    read: () => Promise<Preview | null>,
  ): Promise<void> => {
    const picture = cache.get(key, async () => {
      const preview = await read();
      if (preview === null) throw new AppError('not_found', `there is no picture at ${ctx.path}`);
      return painter.paint(previewSvg(preview));
    });
    const { body, etag } = await picture.catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'rate_limited') ctx.set('Retry-After', '1');
      throw error;
    });
    ctx.type = 'image/png';
    ctx.set('Cache-Control', CACHE_CONTROL);
    ctx.set('ETag', etag);
    ctx.body = body;
  };
  return [routeOf('pair', pairReader(deps, painter)), routeOf('token', tokenReader(deps, painter))];
}

function addressOf(file: string): Hex | null {
  return file.endsWith('.png') ? findAddress(file.slice(0, -4)) : null;
}

/**
 * Called before the bars are read. Throws rate_limited if this process has begun enough pictures in this second. Unknown
 * addresses do not count.
 */
function reservePicture(painter: PreviewPainter): void {
  if (!painter.reservePicture()) throw new AppError('rate_limited', 'too many new pictures; retry in 1 s');
}

const closedBars = (bars: readonly Bar[]): Bar[] => bars.filter(({ closed }) => closed).slice(-BARS_MAX);

function pairReader(deps: MarketDeps, painter: PreviewPainter): ReadPreview {
  const readBarsIn = async (pair: Hex, head: HeadSnapshot, currency: Currency): Promise<Bar[]> => {
    const request = {
      pair,
      timeframe: TIMEFRAME,
      limit: BARS_MAX + 1,
      to: null,
      currency,
      fill: true,
    } as const;
    const pairRequest = { ...request, invert: false, continuous: true, base: null, quote: null };
    return closedBars((await getPairSeries(deps, head, pairRequest)).data);
  };
  return async (address, head) => {
    const entry = (await deps.pairs.at(head)).byAddress.get(address);
    if (entry === undefined) return null;
    reservePicture(painter);
    const { base, quote } = entry.tokens;
    const name = `${symbolFigure(base)} / ${symbolFigure(quote)}`;
    const usdBars = await readBarsIn(address, head, 'usd');
    if (usdBars.length > 0) return { name, sign: '$', unit: '', bars: usdBars, seconds: BAR_SECONDS };
    const quoteBars = await readBarsIn(address, head, 'quote');
    return { name, sign: '', unit: symbolFigure(quote), bars: quoteBars, seconds: BAR_SECONDS };
  };
}

function tokenReader(deps: MarketDeps, painter: PreviewPainter): ReadPreview {
  const { runner, chain, directory } = deps;
  const series = createTokenSeries({ runner, wrappedNative: chain.wrappedNative, directory });
  return async (token, head) => {
    const entry = (await deps.tokens.at(head)).byAddress.get(token);
    if (entry === undefined) return null;
    reservePicture(painter);
    const request = {
      token,
      timeframe: TIMEFRAME,
      limit: BARS_MAX + 1,
      to: null,
      currency: 'usd',
      fill: true,
    } as const;
    const { data } = await series.get(head, { ...request, continuous: true });
    return {
      name: symbolFigure(entry.item),
      sign: '$',
      unit: '',
      bars: closedBars(data),
      seconds: BAR_SECONDS,
    };
  };
}
