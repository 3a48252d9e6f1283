/** Texts of the OpenAPI document, in which backticks mark code. */
import { h } from '../core/dom.ts';

export function prose(text: string): (string | HTMLElement)[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : h('code', {}, part)));
}
