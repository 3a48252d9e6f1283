/** Shows the result of an alert as a notice in the page, and as a notification of the browser if the user allowed it. */
import { h } from '../core/dom.ts';
import { goTo } from '../core/navigation.ts';
import { addHit, type Hit } from './alertStore.ts';

const noticeBox = h('div', { id: 'notices', role: 'log', 'aria-label': 'Alerts', 'aria-live': 'polite' });

/** Each alert has one notice, its newest, so that a busy alert does not hide the others. All are on the page of alerts. */
export function showHit(hit: Hit, alertId: string): void {
  addHit(hit);
  if (!noticeBox.isConnected) document.body.append(noticeBox);
  const close = h('button', { type: 'button', class: 'close', 'aria-label': 'Close this alert' }, '×');
  const newNotice = h(
    'p',
    { class: 'alert-notice', 'data-alert': alertId },
    h('a', { href: hit.hash }, hit.text),
    close,
  );
  close.addEventListener('click', () => newNotice.remove());
  for (const notice of noticeBox.querySelectorAll<HTMLElement>('[data-alert]'))
    if (notice.dataset['alert'] === alertId) notice.remove();
  noticeBox.append(newNotice);
  notify(hit);
}

function notify({ text, hash }: Hit): void {
  if (permission() !== 'granted') return;
  try {
    // Two tabs that find the same thing share the tag, so the browser shows it once.
    const notification = new Notification('Candlehouse', { body: text, tag: text });
    notification.addEventListener('click', () => {
      window.focus();
      goTo(hash);
      notification.close();
    });
  } catch {
    // Some phones allow notifications only to installed apps. The notice in the page is enough.
  }
}

/** `unsupported` where the browser has no notifications, for example without HTTPS. */
export function permission(): NotificationPermission | 'unsupported' {
  return 'Notification' in window ? Notification.permission : 'unsupported';
}

/** Asks the user. Browsers allow this only after a click. */
export async function askPermission(): Promise<void> {
  if (permission() === 'default') await Notification.requestPermission();
}
