/** The page of alerts: a form, the alerts of this browser, and what they found. */
import type { TokenAnswer, TokenItem, TokensAnswer } from '../../wire/tokens';
import { failureText, getAnswer } from '../core/api.ts';
import { tokenPath, type View } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import { formatUsd, formatUsdPrice, symbolOf } from '../core/format.ts';
import { emptyNotice, isMissing } from '../core/panel.ts';
import { ago } from '../core/pieces.ts';
import { askPermission, permission } from './alertNotice.ts';
import {
  addAlert,
  ALERT_KINDS,
  ALERTS_MAX,
  onAlerts,
  readAlerts,
  readHits,
  removeAlert,
  updateAlert,
  watchFault,
  type Alert,
  type AlertKind,
} from './alertStore.ts';

const KIND_NAMES: Readonly<Record<AlertKind, string>> = {
  above: 'Price at or above',
  below: 'Price at or below',
  swap: 'Swap of at least',
  pair: 'New pair',
};
/** Longest text of a token field. */
const TOKEN_TEXT_MAX = 64;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

export const alertsView: View = (app, place, main, signal) => {
  app.setTitle('Alerts');
  const alertBox = h('div');
  const hitBox = h('div');
  const showAlerts = (): void => {
    alertBox.replaceChildren(
      h('p', { class: 'fault', role: 'status' }, watchFault()),
      alertList(readAlerts()),
    );
    hitBox.replaceChildren(hitList());
  };
  showAlerts();
  onAlerts(showAlerts, signal);
  main.replaceChildren(
    h('h1', {}, 'Alerts'),
    h(
      'section',
      { class: 'card alert-card' },
      h('div', { class: 'card-bar' }, h('h2', {}, 'New alert')),
      alertForm(place.query.get('token') ?? '', signal),
      permissionLine(),
    ),
    h(
      'section',
      { class: 'card alert-card' },
      h('div', { class: 'card-bar' }, h('h2', {}, 'Your alerts')),
      alertBox,
    ),
    h(
      'section',
      { class: 'card alert-card' },
      h('div', { class: 'card-bar' }, h('h2', {}, 'What happened')),
      hitBox,
    ),
  );
};

function alertForm(token: string, signal: AbortSignal): HTMLFormElement {
  const kindSelect = h(
    'select',
    { 'aria-label': 'Kind of alert' },
    ...ALERT_KINDS.map((alertKind) => h('option', { value: alertKind }, KIND_NAMES[alertKind])),
  );
  const tokenField = h('input', {
    type: 'text',
    value: ADDRESS.test(token) ? token : '',
    placeholder: 'Token: symbol or 0x…',
    'aria-label': 'Token',
    maxlength: TOKEN_TEXT_MAX,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const usdField = h('input', {
    type: 'text',
    inputmode: 'decimal',
    placeholder: 'USD',
    'aria-label': 'USD',
    maxlength: 24,
    autocomplete: 'off',
  });
  const faultText = h('span', { class: 'fault', role: 'alert' });
  kindSelect.addEventListener('change', () => (usdField.hidden = kindSelect.value === 'pair'));
  const form = h(
    'form',
    { class: 'alert-form' },
    kindSelect,
    usdField,
    tokenField,
    button('Add alert', () => undefined, { type: 'submit', class: 'button main' }),
    faultText,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosenKind = ALERT_KINDS.find((alertKind) => alertKind === kindSelect.value) ?? 'above';
    void createAlert(
      chosenKind,
      tokenField.value.trim(),
      Number(usdField.value.trim().replace(',', '.')),
      signal,
    ).then((problem) => {
      faultText.textContent = problem ?? '';
      if (problem === null) usdField.value = '';
    });
  });
  return form;
}

/** Adds an alert. Returns what is wrong, or null. */
async function createAlert(
  kind: AlertKind,
  name: string,
  usd: number,
  signal: AbortSignal,
): Promise<string | null> {
  if (name === '') return 'Name a token';
  if (kind !== 'pair' && !(usd > 0 && Number.isFinite(usd))) return 'Enter a value in USD above 0';
  try {
    const token = await findToken(name, signal);
    if (token === null) return `No token is called ${name}`;
    const alert = { kind, token: token.address, symbol: symbolOf(token), usd: kind === 'pair' ? 0 : usd };
    return addAlert(alert) ? null : `There may be ${ALERTS_MAX} alerts; remove one first`;
  } catch (error) {
    return isMissing(error) ? 'No pool holds this token' : failureText(error);
  }
}

async function findToken(name: string, signal: AbortSignal): Promise<TokenItem | null> {
  if (ADDRESS.test(name)) return (await getAnswer<TokenAnswer>(`/tokens/${name}`, {}, signal)).data;
  const { data } = await getAnswer<TokensAnswer>('/tokens', { q: name, limit: 1 }, signal);
  return data[0] ?? null;
}

const PERMISSIONS: Readonly<Record<ReturnType<typeof permission>, string>> = {
  granted: 'Notifications of the browser are on.',
  default: 'Alerts appear in this page, while it is open in a tab.',
  denied: 'The browser blocks notifications. Alerts appear in this page, while it is open in a tab.',
  unsupported:
    'The browser has no notifications here. Alerts appear in this page, while it is open in a tab.',
};

function permissionLine(): HTMLElement {
  const statusText = h('span', { class: 'muted', role: 'status' });
  const askButton = button(
    'Notify me outside of this page too',
    () => void askPermission().then(showPermission),
  );
  const showPermission = (): void => {
    statusText.textContent = PERMISSIONS[permission()];
    askButton.hidden = permission() !== 'default';
  };
  showPermission();
  return h('p', { class: 'alert-permission' }, statusText, askButton);
}

function alertList(alerts: readonly Alert[]): HTMLElement {
  if (alerts.length === 0) return emptyNotice('No alerts yet. They are kept in this browser only.');
  return h('ul', { class: 'alert-list' }, ...alerts.map(alertItem));
}

function alertItem(alert: Alert): HTMLElement {
  const { id, kind, token, symbol, usd, firedAt } = alert;
  const amount = kind === 'swap' ? formatUsd(usd) : kind === 'pair' ? '' : formatUsdPrice(usd);
  return h(
    'li',
    { 'data-kind': kind },
    h('a', { href: tokenPath(token), title: token }, symbol),
    h('span', {}, `${KIND_NAMES[kind]} ${amount}`.trim()),
    h('span', { class: 'muted' }, ...(firedAt === null ? ['waiting'] : ['happened ', ago(firedAt), ' ago'])),
    h('span', { class: 'spring' }),
    firedAt !== null && button('Watch again', () => updateAlert(id, { firedAt: null })),
    button('Remove', () => removeAlert(id)),
  );
}

function hitList(): HTMLElement {
  const hits = readHits();
  if (hits.length === 0) return emptyNotice('Nothing yet');
  return h(
    'ul',
    { class: 'alert-list' },
    ...hits.map(({ text, hash, at }) =>
      h(
        'li',
        {},
        h('a', { href: hash }, text),
        h('span', { class: 'spring' }),
        h('span', { class: 'muted' }, ago(at)),
      ),
    ),
  );
}
