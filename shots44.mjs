import { chromium } from 'playwright-core';
const [,, base, ...paths] = process.argv;
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox','--disable-gpu'] });
for (const [w,h,t] of (process.env.LOOKS ?? '1440x900dark').split(',').map(x => /(\d+)x(\d+)(\w+)/.exec(x).slice(1))) {
  const c = await b.newContext({ viewport: { width: +w, height: +h }, colorScheme: t });
  const p = await c.newPage();
  p.on('console', m => m.type() === 'error' && console.log('console', m.text()));
  p.on('pageerror', e => console.log('pageerror', e.message));
  for (const [i, path] of paths.entries()) {
    await p.goto(base + path); await p.waitForTimeout(+(process.env.WAIT ?? 1800));
    const name = path.replace(/[^\w]+/g, '_').slice(1, 40);
    await p.screenshot({ path: `/tmp/w44/shots/${name}-${w}-${t}.png`, fullPage: process.env.FULL === '1' });
    const sw = await p.evaluate('document.documentElement.scrollWidth');
    console.log(name, p.url(), sw > +w ? 'WIDE ' + sw : '');
    if (process.env.TEXT) console.log((await p.locator('#main').innerText()).slice(0, +process.env.TEXT));
  }
  await c.close();
}
await b.close();
