import { readableOn, standingOut } from './colors.ts';

const light = { page: '#f3f4f6', surface: '#ffffff' };
const dark = { page: '#0f1115', surface: '#181b21' };

const accents = (primary: string, surface: string) => `
--accent:${primary};--on-accent:${readableOn(primary)};
--link:${standingOut(primary, surface, 4.5)};--focus:${standingOut(primary, surface, 4.5)};`;

/** The colors of a page. */
export type Theme = 'light' | 'dark';

/** The style sheet of every page, in the operator's colour: light and dark, or one of the two. */
export const styleOf = (primary: string, theme?: Theme): string =>
  theme === undefined
    ? bothThemes(primary)
    : bothThemes(primary)
        .replace('color-scheme:light dark', `color-scheme:${theme}`)
        .replace(
          '@media (prefers-color-scheme:dark)',
          theme === 'dark' ? '@media all' : '@media not all',
        );

const bothThemes = (primary: string): string => `
:root{color-scheme:light dark;font:100%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
--page:${light.page};--surface:${light.surface};--edge:#dfe2e8;--text:#14171c;--muted:#555c69;--field:#ffffff;--field-edge:#7d8593;
--bad:#b3261e;--bad-soft:#fdf0ef;--good:#146c3c;--good-soft:#eef8f1;${accents(primary, light.surface)}}
@media (prefers-color-scheme:dark){:root{
--page:${dark.page};--surface:${dark.surface};--edge:#2a2f38;--text:#eceef2;--muted:#a6adba;--field:#0f1115;--field-edge:#767f8e;
--bad:#ff8f86;--bad-soft:#331b1b;--good:#7fd8a0;--good-soft:#16281d;${accents(primary, dark.surface)}}}
*{box-sizing:border-box}
html{background:var(--page)}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;background:var(--page);color:var(--text)}
.brand{display:flex;align-items:center;justify-content:center;gap:.625rem;margin:auto auto 0;padding:2rem 1.5rem 1.25rem;font-weight:650;font-size:1.0625rem;letter-spacing:-.01em;overflow-wrap:anywhere}
.brand img{display:block;max-height:2.5rem;max-width:12rem}
.brand svg{width:1.75rem;height:1.75rem;flex:none}
main{width:min(26.5rem,100%);padding:2rem 2rem 2.25rem;background:var(--surface);border:1px solid var(--edge);border-radius:1rem;box-shadow:0 1px 2px #0000000a,0 12px 32px -12px #00000024}
h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.018em;font-weight:680;margin:0;overflow-wrap:anywhere;text-wrap:balance}
.lead{margin:.375rem 0 0;color:var(--muted);overflow-wrap:anywhere}
p{margin:1rem 0 0;overflow-wrap:anywhere}
form{margin:1.5rem 0 0}
h1+form,.lead+form{margin-top:1.5rem}
.field{margin:0 0 1.125rem}
label{display:block;margin:0 0 .375rem;font-weight:600;font-size:.9375rem}
.hint{margin:.375rem 0 0;font-size:.875rem;color:var(--muted)}
.field{display:flow-root}
.reveal{float:left;margin:.5rem 0 0;font-size:.875rem}
.reveal~:is(.hint,.wrong){clear:left}
.aside{margin:.5rem 0 0;font-size:.875rem;text-align:right}
input{width:100%;min-height:2.875rem;padding:.5rem .8125rem;font:inherit;color:var(--text);background:var(--field);border:1px solid var(--field-edge);border-radius:.5rem}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px;padding:calc(.5rem - 1px) calc(.8125rem - 1px)}
p.code{text-align:center;font-size:1.75rem;font-weight:600;letter-spacing:.2em}
svg.qr{display:block;width:min(14rem,100%);margin:1.25rem auto 0;border-radius:.5rem;border:1px solid var(--edge);background:#ffffff}
.codes{columns:2 9.5rem;column-gap:1.5rem;margin:1.25rem 0 0;padding:0 0 0 1.75rem;line-height:2}
input.code{font:600 1.5rem/1.2 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.42em;text-align:center;padding-inline:.42em 0;min-height:3.5rem}
.wrong{display:flex;gap:.375rem;margin:.375rem 0 0;font-size:.875rem;font-weight:550;color:var(--bad)}
ul.wrong{display:block;padding:0 0 0 1.125rem}
button,.button{display:block;width:100%;min-height:2.875rem;padding:.5625rem 1rem;font:inherit;font-weight:620;text-align:center;text-decoration:none;cursor:pointer;color:var(--on-accent);background:var(--accent);border:1px solid var(--accent);border-radius:.5rem}
button:hover,.button:hover{filter:brightness(1.08)}
button:active,.button:active{filter:brightness(.94)}
button+button,.button+button,form+form{margin-top:.75rem}
button.quiet,.button.quiet{color:var(--text);background:transparent;border-color:var(--field-edge)}
button.quiet:hover,.button.quiet:hover{background:var(--page);filter:none}
button.text{width:auto;min-height:0;display:inline;padding:0;border:0;border-radius:.25rem;background:none;color:var(--link);font-weight:inherit;text-decoration:underline;text-underline-offset:.15em}
button.text:disabled{color:var(--muted);text-decoration:none;cursor:default;filter:none}
.who{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem .75rem;margin:1.25rem 0;padding:.5rem .875rem;border:1px solid var(--edge);border-radius:1.5rem}
.who span{overflow-wrap:anywhere}
a{color:var(--link);text-underline-offset:.15em;border-radius:.25rem}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
a,button{scroll-margin-block:.75rem}
input{scroll-margin-block:4.25rem}
.note{display:flex;gap:.625rem;margin:1.25rem 0 0;padding:.75rem .875rem;border-radius:.625rem;border:1px solid;font-size:.9375rem}
.note svg{width:1.25rem;height:1.25rem;flex:none;margin-top:.125rem}
.note p{margin:0}
.note.bad{color:var(--bad);background:var(--bad-soft)}
.note.good{color:var(--good);background:var(--good-soft)}
.asked{margin:1.25rem 0 0;padding:.75rem .875rem;border:1px solid var(--edge);border-radius:.625rem}
.asked+.asked{margin-top:.75rem}
.asked h2{margin:0;font-size:.9375rem;font-weight:620;overflow-wrap:anywhere}
.asked ul{margin:.375rem 0 0;padding:0 0 0 1.125rem}
.asked li{overflow-wrap:anywhere}
.warn{font-size:.9375rem;font-weight:550}
.or{display:flex;align-items:center;gap:.75rem;margin:1.25rem 0;color:var(--muted);font-size:.875rem}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--edge)}
.ways{list-style:none;margin:1.25rem 0 0;padding:0;display:grid;gap:.75rem}
.ways form,.ways form.passkey{margin:0}
.ways li:has(>form[hidden]),.or:has(+.ways>li:only-child>form[hidden]){display:none}
.ways .hint{text-align:center}
.provider{position:relative}
.provider button{padding-inline:3rem}
.logo{position:absolute;left:1rem;top:.8125rem;width:1.25rem;height:1.25rem;pointer-events:none}
.more{margin:1rem 0 0}
.more summary{width:max-content;max-width:100%;margin:0 auto;padding:.25rem .5rem;border-radius:.25rem;color:var(--link);font-weight:600;font-size:.9375rem;cursor:pointer}
.below{margin:1.5rem 0 0;padding:1.25rem 0 0;border-top:1px solid var(--edge);color:var(--muted);font-size:.9375rem;line-height:1.875;text-align:center}
form.inline{margin:0;display:inline}
form.passkey,form.passkey+.ways{margin-top:.75rem}
[data-without-passkeys]+form.passkey{margin-top:1.5rem}
form.passkey .wrong{justify-content:center}
form.end{margin:0}
button.give-up{display:block;margin:1rem auto 0;color:var(--muted);font-size:.9375rem;padding:.25rem .5rem}
.rows{margin:1.625rem 0 0}
.rows h2{margin:0 0 .25rem;font-size:.875rem;font-weight:650;color:var(--muted)}
.rows ul,.entries{list-style:none;margin:0;padding:0}
.rows li a{display:flex;align-items:center;gap:.75rem;min-height:3rem;padding:.5rem 0;color:inherit;text-decoration:none;border-bottom:1px solid var(--edge)}
.rows li:last-child a{border-bottom:0}
.rows a:hover .what{text-decoration:underline;text-underline-offset:.15em}
.rows .what{flex:none;max-width:50%;font-weight:600;font-size:.9375rem}
.rows .value{flex:1;min-width:0;text-align:right;color:var(--muted);font-size:.9375rem;overflow-wrap:anywhere}
.rows svg{width:1rem;height:1rem;flex:none;color:var(--muted)}
.advice a>:first-child{width:1.25rem;height:1.25rem;color:var(--bad)}
.advice span{flex:1;min-width:0;font-size:.9375rem}
.well{display:flex;gap:.625rem;margin:.5rem 0 0;color:var(--good)}
.well svg{width:1.25rem;height:1.25rem;margin-top:.125rem;color:inherit}
.person{display:flex;align-items:center;gap:1rem}
.face{position:relative;flex:none;display:grid;place-items:center;width:3.5rem;height:3.5rem;overflow:hidden;border-radius:50%;background:var(--page);color:var(--muted);font-size:1.125rem;font-weight:650}
.face img{position:absolute;inset:0;width:100%;height:100%;object-fit:cover}
main.wide>form{max-width:22.5rem;margin-inline:auto}
.entries{margin:1.25rem 0 0}
.entries li{display:flex;justify-content:space-between;align-items:center;gap:1rem;padding:.875rem 0;border-bottom:1px solid var(--edge)}
.entries li:last-child{border-bottom:0;padding-bottom:0}
.entries li>div{min-width:0;overflow-wrap:anywhere}
.entries strong{display:block;font-weight:600;font-size:.9375rem}
.entries .hint{display:block;margin:.125rem 0 0}
.entries form{flex:none;margin:0}
.badge{flex:none;padding:.125rem .625rem;border-radius:1rem;font-size:.8125rem;font-weight:600;color:var(--good);background:var(--good-soft)}
button.bad{color:var(--surface);background:var(--bad);border-color:var(--bad)}
a.bad{color:var(--bad)}
.below a,.below button.text{display:inline-block;margin:0 .1875rem;font-weight:600;line-height:1.5}
small{font-size:.8125rem;color:var(--muted)}
footer{margin:0 auto auto;padding:1.25rem 1.5rem 2rem;display:flex;flex-wrap:wrap;justify-content:center;gap:.25rem 1.25rem;font-size:.8125rem;color:var(--muted)}
footer a{color:inherit}
footer [aria-current]{font-weight:650}
code{font:.9375em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
@media (max-width:30rem){
html,body{background:var(--surface)}
body{align-items:stretch}
.brand{margin:0;padding:1.5rem 1.25rem .25rem;justify-content:flex-start}
main{width:auto;padding:1rem 1.25rem;border:0;border-radius:0;box-shadow:none;background:none}
footer{margin:auto 0 0;justify-content:flex-start;padding:1rem 1.25rem 1.5rem}
}
@media (min-width:900px){
main.wide{width:min(60rem,100% - 2rem)}
.columns{display:grid;grid-template-columns:1fr 1fr;gap:0 3rem}
.columns>*{min-width:0}
}
@media (prefers-contrast:more){:root{--muted:var(--text);--edge:var(--field-edge)}}
@media (forced-colors:active){button,.button{forced-color-adjust:none;color:ButtonText;background:ButtonFace;border-color:ButtonText}button.text{color:LinkText;background:none}}
`;
