// The pages of the demo's shop, of every kind a cache meets: cacheable for seconds, minutes and hours, varying by
// language, private, slow, sometimes failing, missing. A page is a pure function of the request and the scene.

import type { Scene } from './drama.ts';

export interface PageRequest {
  path: string;
  query: URLSearchParams;
  language: string;
  /** A number in 0..1 that decides whether a failing page fails. */
  luck: number;
  scene: Scene;
}

export interface Page {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Milliseconds before the response. */
  delay: number;
  /** The origin resets the connection instead of answering. */
  reset?: true;
}

const PRODUCTS = ['Kettle', 'Teapot', 'Lamp', 'Chair', 'Notebook', 'Backpack', 'Bicycle', 'Umbrella'];

const GREETING: Readonly<Record<string, string>> = { en: 'Welcome', de: 'Willkommen', fr: 'Bienvenue' };

export function page(request: PageRequest): Page {
  const { path, scene } = request;
  const [, section = '', name = ''] = path.split('/');
  switch (section) {
    case '':
      return html(200, 'Front page', cards(), 'public, max-age=10', 12);
    case 'home':
      return html(200, 'Home', PARTS.map(include).join('\n'), 'public, max-age=10', 15);
    case 'parts':
      return part(name, request.luck);
    case 'products':
      return product(name, request.language);
    case 'articles':
      return html(200, `Article: ${name}`, paragraphs(14), 'public, max-age=60', 25 + scene.slowness);
    case 'img':
      return scene.imagesSick ? text(503, 'out of order\n', 'no-store', 3) : image(name);
    case 'static':
      return asset(path, scene.release);
    case 'search':
      return html(200, `Search: ${request.query.get('q') ?? ''}`, cards(), 'no-store', 45);
    case 'cart':
      return withHeaders(html(200, 'Your cart', paragraphs(1), 'private, no-store', 18), {
        'Set-Cookie': 'cart=7f3a; Path=/; HttpOnly',
      });
    case 'api':
      return json({ product: name, stock: Math.floor(request.luck * 40) }, 'public, max-age=1', 8);
    case 'reports':
      return html(200, 'Yearly report', paragraphs(40), 'public, max-age=5', 1200 + scene.slowness);
    case 'checkout':
      if (request.luck < 0.25) return { status: 0, headers: {}, body: '', delay: 5, reset: true };
      if (request.luck < 0.6) return html(500, 'Checkout failed', paragraphs(1), 'no-store', 60);
      return html(200, 'Checkout', paragraphs(2), 'private, no-store', 40);
    case 'old':
      return {
        status: 301,
        headers: { Location: '/', 'Cache-Control': 'public, max-age=300' },
        body: '',
        delay: 2,
      };
    case 'health':
      if (name === 'images' && scene.imagesSick) return text(503, 'out of order\n', 'no-store', 1);
      return text(200, 'ok\n', 'no-store', 1);
    default:
      return html(404, 'Not here', paragraphs(1), 'public, max-age=15', 6);
  }
}

function product(name: string, language: string): Page {
  const id = Number.parseInt(name, 10) || 0;
  const title = `${GREETING[language] ?? GREETING.en}: ${PRODUCTS[id % PRODUCTS.length]} no. ${id}`;
  return withHeaders(html(200, title, paragraphs(5), 'public, max-age=20', 20), {
    Vary: 'Accept-Language',
    'Content-Language': language,
    xkey: `product-${id} shelf-${id % PRODUCTS.length}`,
  });
}

/** Fragments of the home page, included by ESI, each with its own lifetime. */
const PARTS = ['header', 'offer-1', 'offer-2', 'offer-3', 'recommended', 'basket', 'footer'];

function include(name: string): string {
  return `<esi:include src="/parts/${name}"/>`;
}

function part(name: string, luck: number): Page {
  switch (name) {
    case 'basket':
      return html(200, 'Your basket', paragraphs(1), 'private, no-store', 20);
    case 'recommended':
      // Slow and sometimes failing: the page then contains the error.
      if (luck < 0.05) return html(503, 'No recommendation', '', 'no-store', 30);
      return html(200, 'Recommended', cards(), 'public, max-age=3', 140);
    case 'header':
    case 'footer':
      return html(200, 'Shop', paragraphs(1), 'public, max-age=300', 10);
    default:
      return html(200, `Offer: ${name}`, paragraphs(2), 'public, max-age=8', 60);
  }
}

function image(name: string): Page {
  const bars = Array.from(
    { length: 120 },
    (_, i) => `<rect x="${i * 4}" y="${(i * 7) % 90}" width="3" height="9"/>`,
  );
  const body = `<svg xmlns="http://www.w3.org/2000/svg" id="${name.replace(/\W/g, '')}">${bars.join('')}</svg>`;
  return {
    status: 200,
    headers: { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=300' },
    body,
    delay: 15,
  };
}

function asset(path: string, release: number): Page {
  const css = path.endsWith('.css');
  return {
    status: 200,
    headers: {
      'Content-Type': css ? 'text/css' : 'text/javascript',
      'Cache-Control': 'public, max-age=3600',
      ETag: `"${path.length}-${release}"`,
    },
    body: css ? 'body { font: 16px sans-serif }\n'.repeat(80) : 'export const ready = true;\n'.repeat(120),
    delay: 5,
  };
}

function html(status: number, title: string, content: string, cacheControl: string, delay: number): Page {
  const safe = title.replace(/[&<>]/g, '');
  return {
    status,
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': cacheControl },
    body: `<!doctype html><title>${safe}</title><h1>${safe}</h1>${content}\n`,
    delay,
  };
}

function json(value: unknown, cacheControl: string, delay: number): Page {
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': cacheControl },
    body: `${JSON.stringify(value)}\n`,
    delay,
  };
}

function text(status: number, body: string, cacheControl: string, delay: number): Page {
  return { status, headers: { 'Content-Type': 'text/plain', 'Cache-Control': cacheControl }, body, delay };
}

function withHeaders(from: Page, headers: Record<string, string>): Page {
  return { ...from, headers: { ...from.headers, ...headers } };
}

function cards(): string {
  return PRODUCTS.map((p, i) => `<a href="/products/${i}"><img src="/img/${i}.svg">${p}</a>`).join('\n');
}

function paragraphs(n: number): string {
  return '<p>A cache keeps what was asked for once, so that the second to ask need not wait.</p>\n'.repeat(n);
}
