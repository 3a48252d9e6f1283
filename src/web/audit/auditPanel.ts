/** The card that explains the price of a token, now or at the end of an earlier block. */
import type { Audit, AuditAnswer } from '../../wire/audit';
import { failureText, getAnswer, urlOf } from '../core/api.ts';
import { pairPath, tokenPath, type App } from '../core/app.ts';
import { auditPath, REASONS } from '../chart/auditPath.ts';
import { moveCost } from '../chart/moveCost.ts';
import { button, h, showIn } from '../core/dom.ts';
import { formatCount, formatFee, formatPrice, formatTime, formatUsdPrice, shortHex } from '../core/format.ts';
import { isMissing, loadingPanel, skeleton, type LoadingPanel } from '../core/panel.ts';
import { confidenceBadge, copyButton, POOL_TYPES, warningList } from '../core/pieces.ts';
import { readAuditNames, type AuditNames } from './auditNames.ts';
import { blockPicker } from './blockPicker.ts';
import { scoreParts, type OpenState } from './scoreParts.ts';

interface NamedAudit {
  readonly audit: Audit;
  readonly names: AuditNames;
}

/** Horizontal padding of the picture, as in the style sheet. */
const PICTURE_PADDING = 26;

/** The state that redraws keep: the width of the picture, and which parts the user opened. */
interface Canvas extends OpenState {
  width: number;
  isListWhole: boolean;
  redraw: () => void;
}

/** The audit as a card, redrawn when the width changes. `block` in the address bar chooses the block. */
export function auditPanel(
  app: App,
  address: string,
  query: URLSearchParams,
  signal: AbortSignal,
): LoadingPanel {
  const canvas: Canvas = { width: 0, isOpen: false, isListWhole: false, redraw: () => undefined };
  let block = readBlock(query.get('block'));
  const picker = blockPicker(block, (chosenBlock) => {
    block = chosenBlock;
    app.remember({ block });
    panel.reload();
  });
  const card = auditCard(picker.element, canvas);
  const panel = loadingPanel<NamedAudit | string>({
    load: (loadSignal) => readAudit(address, block, loadSignal),
    render(result) {
      if (typeof result !== 'string') picker.show(result.audit.derived_at_block);
      card.show(result);
      return card.element;
    },
    skeleton: () => skeleton(260),
    class: 'loaded audit-loaded',
    signal,
  });
  const resizeObserver = new ResizeObserver(() => {
    const width = Math.floor(panel.element.clientWidth) - PICTURE_PADDING;
    if (width === canvas.width || width <= 0) return;
    canvas.width = width;
    canvas.redraw();
  });
  resizeObserver.observe(panel.element);
  signal.addEventListener('abort', () => resizeObserver.disconnect());
  return {
    ...panel,
    // The audit of a chosen block does not change.
    refresh: () => void (block === null && panel.refresh()),
  };
}

function readBlock(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** An answer, or what is wrong with the chosen block. Any other failure is thrown. */
async function readAudit(
  address: string,
  block: number | null,
  loadSignal: AbortSignal,
): Promise<NamedAudit | string> {
  try {
    const { data } = await getAnswer<AuditAnswer>(`/tokens/${address}/audit`, { block }, loadSignal);
    return { audit: data, names: await readAuditNames(data, loadSignal) };
  } catch (error) {
    if (block === null || loadSignal.aborted || !isBlockProblem(error)) throw error;
    return isMissing(error) ? `The token had no pool at block ${formatCount(block)}.` : failureText(error);
  }
}

/** Whether the request was wrong: a block ahead of the index, or before the token. */
function isBlockProblem(error: unknown): boolean {
  return error instanceof Error && 'status' in error && (error.status === 400 || error.status === 404);
}

/** The card. Its parts change in place, so that a selection, a focus and an opened list stay. */
function auditCard(
  picker: HTMLElement,
  canvas: Canvas,
): { readonly element: HTMLElement; show(result: NamedAudit | string): void } {
  const [confidence, summary, picture, details] = [
    h('span'),
    h('div'),
    h('div', { class: 'audit-picture' }),
    h('div'),
  ];
  const headerItems = [
    h('h2', {}, 'Where the price comes from'),
    confidence,
    h('span', { class: 'spring' }),
    picker,
  ];
  return {
    element: h(
      'section',
      { class: 'card audit-card' },
      h('div', { class: 'card-bar' }, ...headerItems),
      summary,
      picture,
      details,
    ),
    show(result) {
      const isFault = typeof result === 'string';
      picture.hidden = isFault || result.audit.method === 'none';
      if (isFault) {
        confidence.replaceChildren();
        summary.replaceChildren(h('p', { class: 'notice empty' }, result));
        details.replaceChildren();
        return;
      }
      const { audit, names } = result;
      showIn(confidence, confidenceBadge(audit.confidence));
      showIn(summary, summaryOf(result));
      canvas.redraw = () => showIn(picture, auditPath(audit, names, canvas.width));
      if (canvas.width > 0) canvas.redraw();
      showIn(details, detailsOf(result, canvas));
    },
  };
}

function summaryOf({ audit, names }: NamedAudit): HTMLElement {
  return h(
    'div',
    {},
    h(
      'p',
      { class: 'audit-sum' },
      h('strong', {}, formatUsdPrice(audit.price_usd)),
      ` at the end of block ${formatCount(audit.derived_at_block)}, ${formatTime(audit.derived_at_timestamp)}. `,
      audit.method === 'none' ? (audit.price_reason?.text ?? '') : METHOD_TEXTS[audit.method],
    ),
    audit.hops.length === 0 ? null : h('p', { class: 'audit-sum audit-steps' }, stepsOf(audit, names)),
    moveCost(audit),
  );
}

function detailsOf({ audit, names }: NamedAudit, canvas: Canvas): HTMLElement {
  return h(
    'div',
    {},
    scoreParts(audit, names, canvas),
    warningList(audit.warnings),
    otherPools(audit, names, canvas),
    h(
      'p',
      { class: 'hash', title: 'Whoever computes this hash from the same answer has the same inputs' },
      'Fingerprint of all inputs ',
      h('span', { class: 'mono' }, shortHex(audit.inputs_hash)),
      copyButton(audit.inputs_hash),
      ' · ',
      h(
        'a',
        { href: urlOf(`/api/v1/tokens/${audit.token.address}/audit`, { block: audit.derived_at_block }) },
        'all figures',
      ),
    ),
  );
}

const METHOD_TEXTS: Readonly<Record<Exclude<Audit['method'], 'none'>, string>> = {
  lp_weighted_multi_hop:
    'Each step is the mean price of its pools. A pool with more liquidity has more weight.',
  stable_anchor: 'This token is an anchor: its price is given, and checked against the other anchors.',
  last_known: 'This is the last known price: the pools of a step have not moved for a day.',
};

/** The steps as equations: 1 A = 2 B, 1 B = $1. */
function stepsOf(audit: Audit, names: AuditNames): string {
  const hopTexts = audit.hops.map(
    ({ from_token, to_token, hop_price }) =>
      `1 ${names.symbolOf(from_token)} = ${formatPrice(hop_price)} ${names.symbolOf(to_token)}`,
  );
  const { anchor } = audit;
  const anchorTexts =
    anchor === null
      ? []
      : [`1 ${names.symbolOf(anchor.address)} = ${formatUsdPrice(anchor.price_usd)} (given)`];
  return [...hopTexts, ...anchorTexts].join(' · ');
}

const OTHER_POOLS_MAX = 6;

/** Pools of the token that no step uses. */
function otherPools(audit: Audit, names: AuditNames, canvas: Canvas): HTMLElement | null {
  const excludedPools = audit.excluded_pools.filter(({ step }) => step === null);
  if (excludedPools.length === 0) return null;
  const rows = excludedPools.map((pool) => {
    const namedPool = names.poolOf(pool.address);
    return h(
      'li',
      {},
      h(
        'a',
        { href: pairPath(pool.address), title: pool.address },
        namedPool?.name ?? shortHex(pool.address),
      ),
      h('span', { class: 'muted' }, namedPool === null ? '' : poolKind(namedPool)),
      h('span', {}, REASONS[pool.reason]),
      h(
        'span',
        { class: 'muted' },
        pool.implied_price === null ? '—' : `${formatPrice(pool.implied_price)} `,
        pool.implied_price === null
          ? ''
          : h('a', { href: tokenPath(pool.to_token) }, names.symbolOf(pool.to_token)),
      ),
    );
  });
  const shownCount = canvas.isListWhole ? rows.length : OTHER_POOLS_MAX;
  const list = h('ul', { class: 'left-out' }, ...rows.slice(0, shownCount));
  const moreButton = button(`${rows.length - OTHER_POOLS_MAX} more`, () => {
    canvas.isListWhole = true;
    list.append(...rows.slice(OTHER_POOLS_MAX));
    moreButton.remove();
  });
  return h(
    'div',
    { class: 'left-out-box' },
    h('h3', {}, `Other pools of this token, which the price does not use (${excludedPools.length})`),
    list,
    rows.length > shownCount && moreButton,
  );
}

function poolKind({ dex, type, feeBps }: NonNullable<ReturnType<AuditNames['poolOf']>>): string {
  return `${dex} ${POOL_TYPES[type] ?? ''} ${formatFee(feeBps)}`;
}
