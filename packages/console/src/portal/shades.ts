/**
 * The colours that the portal derives from the colour of its project, for a light or a dark background. Each is a text such as `#1a2b3c`.
 */
export type Shades = {
  /** Colour of links, of the main button and of the focus ring. */
  readonly accent: string;
  /** Colour of a text whose background has the colour `accent`. */
  readonly onAccent: string;
  /** Background of the chosen page in the navigation. Its text has the colour `accent`. */
  readonly accentGround: string;
};

type Color = readonly [red: number, green: number, blue: number];

/** Minimum contrast of text and its background, by WCAG 2.2 AA. */
const contrastMin = 4.5;
const white: Color = [255, 255, 255];
const black: Color = [0, 0, 0];
/**
 * Background colours of the portal's pages, the same as in `ui/tokens.css`. A text in the accent colour must have enough contrast on each
 * of these backgrounds.
 */
const grounds = { light: ["#ffffff", "#f7f8fb", "#eceff4"], dark: ["#12151b", "#171b22", "#1e232c"] } as const;

/**
 * Returns the shades of a color (`#rrggbb`) for pages with a light or a dark background. The hue stays. The color becomes darker or lighter
 * until each text that uses it has the contrast of WCAG AA.
 */
export function shadesOf(color: string, scheme: "light" | "dark"): Shades {
  const own = readColor(color);
  const isLight = scheme === "light";
  const [near, far] = isLight ? [white, black] : [readColor(grounds.dark[0]), white];
  const ground = mix(own, near, isLight ? 0.9 : 0.82);
  const others = [...grounds[scheme].map(readColor), ground];
  // The text on the accent has the colour of the page's background.
  const steps = Array.from({ length: 51 }, (_, step) => mix(own, far, step / 50));
  const accent = steps.find((one) => others.every((other) => contrast(one, other) >= contrastMin)) ?? far;
  return { accent: textOf(accent), onAccent: textOf(near), accentGround: textOf(ground) };
}

/** Returns the contrast ratio of two colours (`#rrggbb`) by WCAG 2.2. The result is between 1 (equal) and 21 (black and white). */
export function contrastOf(one: string, other: string): number {
  return contrast(readColor(one), readColor(other));
}

function contrast(one: Color, other: Color): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Mixes two colours. `share`: the part of `to`, 0 to 1. */
function mix(from: Color, to: Color, share: number): Color {
  const part = (at: 0 | 1 | 2) => Math.round(from[at] + (to[at] - from[at]) * share);
  return [part(0), part(1), part(2)];
}

function readColor(text: string): Color {
  const part = (at: number) => Number.parseInt(text.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

function textOf(color: Color): string {
  return `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
