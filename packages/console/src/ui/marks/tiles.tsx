import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./tile.module.css";

/** Number of colours of app tiles in `tile.module.css`. */
const colours = 8;

/** The colour and the lines of the mark of each shipped app, on a grid of 24 by 24 units. They show what an app of this kind does. */
const marks: Readonly<Record<string, readonly [colour: number, path: string]>> = {
  bank_link: [2, "M4 10l8-5 8 5zM7 10v7m5-7v7m5-7v7M4 20h16"],
  calendar: [4, "M5 5h14v15H5zM5 10h14M9 3v4m6-4v4"],
  data_pipeline: [2, "M4 7h8m-8 5h16M4 17h8m5-8 3 3-3 3"],
  email_marketing: [3, "M4 6h16v12H4zm0 1 8 6 8-6"],
  esignature: [1, "M4 20h16M6 16v-3l9-9 3 3-9 9z"],
  incident_mgmt: [1, "M12 4 3 19h18zm0 6v4m0 2.5v.1"],
  issue_tracker: [6, "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zm0 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z"],
  messaging_bot: [3, "M4 5h16v11h-9l-4 4v-4H4z"],
  notes_wiki: [5, "M6 4h8l4 4v12H6zm8 0v4h4m-9 5h6m-6 3h6"],
  payments_checkout: [6, "M3 6h18v12H3zm0 4h18M7 15h3"],
  sales_crm: [0, "M4 20h16M7 20v-6m5 6V6m5 14V11"],
  scheduling: [7, "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zm0 4v4l3 2"],
  search_engine: [5, "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 4 4"],
  search_ingestion: [0, "M12 4v9m-4-4 4 4 4-4M5 15v4h14v-4"],
  vector_db: [7, "M12 13V4m0 9 7 5m-7-5-7 5m7-14v.1m7 13.9v.1M5 18v.1"],
  work_mgmt: [4, "m4 7 2 2 3-4M4 17l2 2 3-4m3-7h8m-8 10h8"],
};

/**
 * The logo of an app: a drawing for each app that svc ships, or else the app's first letters in a colour that is always the same. `slug`:
 * slug of the app, or of one of its tools or triggers. Text next to the logo must name the app.
 */
export function AppMark({ slug, size = "medium" }: { slug: string; size?: "small" | "medium" | "large" }) {
  const [app = ""] = slug.split(".");
  const [colour, path] = (Object.hasOwn(marks, app) ? marks[app] : undefined) ?? [colourOf(app)];
  const tile = classNames(styles["tile"], styles[size], styles["app"], styles[`colour${colour}`]);
  if (path === undefined) {
    return (
      <span className={classNames(tile, styles["letters"])} aria-hidden="true">
        {initialsOf(app)}
      </span>
    );
  }
  return (
    <span className={tile} aria-hidden="true">
      <svg
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
      >
        <path d={path} />
      </svg>
    </span>
  );
}

/** The logo of an app, followed by a text such as the name of one of its tools. A text that is too long ends with an ellipsis. */
export function AppNamed({ slug, children }: { slug: string; children: ReactNode }) {
  return (
    <span className={styles["named"]}>
      <AppMark slug={slug} />
      <span className={styles["name"]}>{children}</span>
    </span>
  );
}

/** Returns the first letters of an app's slug: `shop_orders` gives `So`, `shop` gives `Sh`. */
function initialsOf(slug: string): string {
  const [first = "", second] = slug.split(/[\s_.-]+/).filter((word) => word !== "");
  const letters =
    second === undefined ? [...first].slice(0, 2) : [...first].slice(0, 1).concat([...second].slice(0, 1));
  const [start = "", ...rest] = letters;
  return start.toUpperCase() + rest.join("");
}

/** Returns the number of an app's colour. The same slug always has the same colour. */
function colourOf(slug: string): number {
  let sum = 0;
  for (const character of slug) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return sum % colours;
}

/** The kinds of resources that are drawn in their own colour, such as jobs. All other kinds are `plain`. */
export type KindColour = "event" | "delivery" | "job" | "call" | "schedule" | "ask" | "plain";

/** A tile with the icon of a kind of resource. It has no accessible name, because a text next to it names the resource. */
export function KindTile({ colour, icon }: { colour: KindColour; icon: IconName }) {
  return (
    <span className={classNames(styles["tile"], styles[colour])} aria-hidden="true">
      <Icon name={icon} size={14} />
    </span>
  );
}
