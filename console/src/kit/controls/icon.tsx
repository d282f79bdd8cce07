import type { ReactElement } from 'react';

// 16 by 16, drawn with a line of 1.5.
const paths = {
  overview: (
    <path d="M2.5 2.5h4.2v5.2H2.5zM9.3 2.5h4.2v3H9.3zM9.3 8.3h4.2v5.2H9.3zM2.5 10.5h4.2v3H2.5z" />
  ),
  events: <path d="M1.5 8h3l2-5 3 10 2-5h3" />,
  users: (
    <path d="M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c.3-2.3 2-3.7 4.5-3.7s4.200 1.400 4.500 3.700M10.700 2.800a2.500 2.500 0 0 1 0 4.400M12.300 10.200c1.300.500 2 1.700 2.200 3.300" />
  ),
  roles: (
    <path d="m8 1.700 5.300 1.900v3.900c0 3.200-2.200 5.700-5.300 6.800-3.100-1.100-5.300-3.600-5.300-6.800V3.600ZM5.700 7.900l1.700 1.700 3-3.200" />
  ),
  apis: (
    <path d="m5 4.500-3.500 3.500L5 11.500M11 4.500 14.500 8 11 11.500M9.300 2.800 6.700 13.200" />
  ),
  applications: <path d="M2 3.500h12v9H2zM2 6.300h12M4.200 4.900h.01M6.200 4.900h.01" />,
  agents: (
    <path d="M3 6h10v7.500H3zM8 6V3.500M8 2.500h.01M6 9.200h.01M10 9.200h.01M1.500 8.500v2.500M14.500 8.500v2.500" />
  ),
  organizations: (
    <path d="M2.500 13.500v-11h6.500v11M9 6.500h4.500v7M1.500 13.500h13M5 5.200h1.500M5 7.800h1.500M5 10.400h1.500M11.200 9h.01M11.200 11.200h.01" />
  ),
  webhooks: (
    <path d="M6.200 6.900a2.800 2.800 0 1 1 4.300-2.700M5.800 6.700 3.700 10.600M10 12.300a2.800 2.800 0 1 0 2.100-4.800M3.600 12.400h6M9.600 4.400l2.300 3.500M3.600 10.600a1.700 1.700 0 1 0 0 .01" />
  ),
  experience: <path d="M6.500 2.500h6v11h-6M2 8h7M6.800 5.500 9.300 8l-2.500 2.500" />,
  keys: (
    <path d="M10.200 9.200a3.600 3.600 0 1 0-3.400-3.400L2.300 10.300v3.400h3.400v-1.700h1.700v-1.700h1.700ZM10.800 5.200h.01" />
  ),
  settings: (
    <path d="M2 4.500h6.500M12 4.500h2M2 11.500h2M7.500 11.500H14M10.200 6.200a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400ZM5.700 13.200a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400Z" />
  ),
  search: <path d="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.600 10.600 14 14" />,
  copy: <path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" />,
  check: <path d="m3 8.500 3.300 3.300L13 4.800" />,
  close: <path d="m3.500 3.500 9 9M12.500 3.500l-9 9" />,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  menu: <path d="M2 4.500h12M2 8h12M2 11.500h12" />,
  more: <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" strokeWidth={2.4} />,
  left: <path d="M10 3 5 8l5 5" />,
  right: <path d="m6 3 5 5-5 5" />,
  down: <path d="m3.500 6 4.500 4.500L12.500 6" />,
  up: <path d="M12.500 10 8 5.500 3.500 10" />,
  sort: <path d="m5 6 3-3 3 3M5 10l3 3 3-3" />,
  pause: <path d="M5 3v10M11 3v10" strokeWidth={2} />,
  play: <path d="m4.500 2.800 8 5.200-8 5.200Z" />,
  warning: <path d="M8 2 1.500 13.500h13ZM8 6.500v3.200M8 11.600h.01" />,
  info: <path d="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.500v3.300M8 5.200h.01" />,
  help: (
    <path d="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.3 6.300a1.800 1.800 0 1 1 2.500 1.700c-.500.200-.800.600-.800 1.200M8 11.200h.01" />
  ),
  filter: <path d="M2 4h12M4.500 8h7M6.500 12h3" />,
  external: <path d="M9 2.500h4.500V7M13.500 2.500 7.500 8.500M6.500 3.500h-4v10h10v-4" />,
  theme: <path d="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 2v12M8 5.500h5M8 8h6M8 10.500h5" />,
  language: (
    <path d="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2 1.900 2.700 3.800 2.700 6S10 12.100 8 14c-2-1.900-2.700-3.800-2.700-6S6 3.900 8 2Z" />
  ),
  signOut: <path d="M9.500 13.500h-7v-11h7M6.500 8H14M11.500 5.500 14 8l-2.500 2.500" />,
  trash: <path d="M2.500 4h11M6 4V2.500h4V4M4 4l.7 9.500h6.600L12 4M6.700 6.800v4M9.300 6.800v4" />,
  eye: (
    <path d="M1.500 8C3 5.200 5.200 3.800 8 3.800s5 1.400 6.500 4.200c-1.500 2.800-3.700 4.200-6.500 4.200S3 10.800 1.500 8ZM8 9.900a1.900 1.900 0 1 0 0-3.800 1.900 1.900 0 0 0 0 3.800Z" />
  ),
  developers: (
    <path d="M6 2.500c-2 0-2 1-2 2.700S3.800 8 2.300 8C3.800 8 4 9 4 10.800s0 2.700 2 2.700M10 2.500c2 0 2 1 2 2.700S12.200 8 13.700 8C12.200 8 12 9 12 10.800s0 2.700-2 2.700" />
  ),
  terminal: <path d="M2 3h12v10H2zM4.500 6l2 2-2 2M8.500 10.300h3" />,
  refresh: <path d="M13.500 8a5.500 5.500 0 1 1-1.600-3.900M13.500 2v3.500H10" />,
} as const satisfies Record<string, ReactElement>;

export type IconName = keyof typeof paths;

/** An icon beside a text that says the same. */
export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.5}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {paths[name]}
  </svg>
);
