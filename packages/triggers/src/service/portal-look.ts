import { formatValue, isPrintableText } from "@svc/core";
import type { PortalLook } from "@svc/db/documents/document";
import type { PortalSettings } from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";

const nameCharactersMax = 60;
const logoBytesMax = 65_536;
const originsMax = 20;

/** The sent settings of a portal, checked. `logo`: an image, or null. */
type CheckedLook = PortalLook & { readonly logo: Buffer | null };

/** Returns the settings of a portal. Throws PORTAL_NAME_INVALID, PORTAL_COLOR_INVALID, PORTAL_LOGO_INVALID or PORTAL_ORIGIN_INVALID. */
export function readPortalLook({ name, color, logo, origins }: PortalSettings): CheckedLook {
  if (name !== "" && !isPrintableText(name, nameCharactersMax))
    throw triggerFaults.PORTAL_NAME_INVALID(nameCharactersMax);
  if (color !== "" && !/^#[0-9a-f]{6}$/i.test(color)) throw triggerFaults.PORTAL_COLOR_INVALID(color);
  if (logo.byteLength > logoBytesMax) throw triggerFaults.PORTAL_LOGO_INVALID(`has ${logo.byteLength} bytes`);
  const image = Buffer.from(logo);
  if (image.byteLength > 0 && imageTypeOf(image) === undefined)
    throw triggerFaults.PORTAL_LOGO_INVALID("does not begin as a PNG, JPEG or WebP image");
  if (origins.length > originsMax)
    throw triggerFaults.PORTAL_ORIGIN_INVALID("portal.origins", `has ${origins.length} entries`);
  const checked = origins.map((origin, index) => checkOrigin(origin, `portal.origins[${index}]`));
  const twice = checked.findIndex((origin, index) => checked.indexOf(origin) !== index);
  if (twice >= 0) throw triggerFaults.PORTAL_ORIGIN_INVALID(`portal.origins[${twice}]`, "is there twice");
  return { name, color: color.toLowerCase(), origins: checked, logo: image.byteLength === 0 ? null : image };
}

/** Checks an origin and returns it as browsers write it. Refuses wildcards and paths. Refuses http, except for loopback hosts. */
function checkOrigin(origin: string, path: string): string {
  const url = URL.parse(origin);
  const refuse = (why: string) => triggerFaults.PORTAL_ORIGIN_INVALID(path, `${formatValue(origin)} ${why}`);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) throw refuse("is not an origin");
  if (url.origin !== origin.toLowerCase() || !/^[a-z0-9.-]+$|^\[[0-9a-f:]+\]$/.test(url.hostname))
    throw refuse("is not an origin alone");
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  // Someone on the network could change an http page. Such a page must not embed the portal.
  if (url.protocol === "http:" && !isLoopback) throw refuse("is http, and its host is not a loopback host");
  return url.origin;
}

/** Returns the media type of an image by its first bytes. Undefined if it is not a PNG, JPEG or WebP image. */
export function imageTypeOf(image: Buffer): "image/png" | "image/jpeg" | "image/webp" | undefined {
  const begins = (text: string, at = 0) => image.toString("latin1", at, at + text.length) === text;
  if (begins("\x89PNG\r\n\x1a\n")) return "image/png";
  if (begins("\xff\xd8\xff")) return "image/jpeg";
  return begins("RIFF") && begins("WEBP", 8) ? "image/webp" : undefined;
}
