/** Parts of the explorer's pages, for tests in a browser: facts, copy buttons and forms of the read tab. */
import type { Locator, Page } from 'playwright-core';

import { eventually } from '../eventually';
import { untilLoaded } from './browser';

/** The value of a fact of the page by its name. */
export const factOf = (page: Page, name: string): Locator =>
  page.locator('.fact', { has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd');

/**
 * Every address and hash that the page shows is a link with a copy button beside it. Only the name of the page itself is
 * no link, and a hash that names nothing on the chain.
 */
export async function checkCopyButtons(page: Page): Promise<void> {
  const bare = await page.evaluate(`[...document.querySelectorAll('#main :not(bdi)')].filter((shown) => {
    const isHex = /^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{4}…[0-9a-f]{4})$/.test(shown.textContent);
    if (!isHex || shown.childElementCount > 0) return false;
    const isName = shown.closest('.wallet-name, .hash') !== null;
    return shown.parentElement.querySelector('.copy') === null || (shown.tagName !== 'A' && !isName);
  }).map((shown) => shown.outerHTML)`);
  expect(bare).toEqual([]);
}

/**
 * Presses a copy button. Returns whether the button says that it has copied. The button says so for a second only, so the
 * page itself watches the button.
 */
export async function pressCopy(button: Locator): Promise<unknown> {
  await button.evaluate((mark) => mark.setAttribute('data-pressed', ''));
  const isCopyDone = button.page().evaluate(`new Promise((resolve) => {
    const mark = document.querySelector('[data-pressed]');
    const read = () => mark.matches('.done, .failed') && resolve(mark.matches('.done'));
    new MutationObserver(read).observe(mark, { attributes: true, attributeFilter: ['class'] });
  })`);
  await button.click();
  return isCopyDone;
}

/** The form of a function of the read tab. */
export const readForm = (page: Page, name: string): Locator =>
  page.locator(`form[data-signature^="${name}("]`);

export async function readAnswer(page: Page, name: string, inputs: readonly string[] = []): Promise<string> {
  const form = readForm(page, name);
  const fields = form.locator('input, textarea, select');
  for (const [index, text] of inputs.entries()) {
    const field = fields.nth(index);
    if ((await field.evaluate((element) => element.tagName)) === 'SELECT') await field.selectOption(text);
    else await field.fill(text);
  }
  await form.getByRole('button').click();
  const answer = form.locator('.read-answer');
  await answer.locator('dl, p').first().waitFor();
  await untilLoaded(page);
  return answer.innerText();
}

/** Presses the first copy button of the lists by keyboard, and returns its label. Tries again where a new trade moves the focus. */
export async function copyFirst(page: Page): Promise<unknown> {
  const press = async (): Promise<unknown> => {
    const label = await page.evaluate(`(() => {
      const copy = document.querySelector('table.data tbody .copy');
      copy.focus();
      return getComputedStyle(copy).opacity === '1' && copy.ariaLabel;
    })()`);
    await page.keyboard.press('Enter');
    const copied = await page.evaluate(`(() => {
      const focused = document.activeElement;
      return focused.matches('.copy.done') && focused.ariaLabel;
    })()`);
    return copied === label ? label : false;
  };
  return eventually(press, (label) => label !== false);
}
