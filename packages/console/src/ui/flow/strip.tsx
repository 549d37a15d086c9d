import { Link, type LinkProps } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import type { Tone } from "../../words/word.ts";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import { type KindColour, KindTile } from "../marks/tiles.tsx";
import styles from "./strip.module.css";

/** A part of a strip. `says`: a sentence about its state, as its tooltip. `link`: its page; undefined if it has none. */
type StripPart = {
  readonly id: string;
  readonly icon: IconName;
  readonly colour: KindColour;
  readonly label: string;
  readonly detail: string;
  readonly tone: Tone;
  readonly says: string;
  readonly isHere: boolean;
  readonly link: LinkProps | undefined;
};

const marks: Record<Tone, { icon: IconName; words: string } | undefined> = {
  ok: { icon: "check", words: "succeeded" },
  warn: { icon: "clock", words: "waiting" },
  bad: { icon: "cross", words: "failed" },
  info: { icon: "more", words: "in progress" },
  plain: undefined,
};

/**
 * Draws a chain of connected parts, from the first cause to the last effect. The part whose page is open is highlighted. `missing`: a
 * sentence about parts that are left out, and why; empty if none are.
 */
export function Strip({ label, parts, missing }: { label: string; parts: readonly StripPart[]; missing: string }) {
  return (
    <nav aria-label={label} className={styles["strip"]}>
      <ol className={styles["parts"]}>
        {parts.map((part) => (
          <li key={part.id} className={styles["item"]} style={{ "--letters": lettersOf(part) } as CSSProperties}>
            <Part part={part} />
          </li>
        ))}
        {missing !== "" && (
          <li className={styles["item"]}>
            <span className={styles["missing"]} title={missing}>
              Parts are missing<span className="visually-hidden">. {missing}</span>
            </span>
          </li>
        )}
      </ol>
    </nav>
  );
}

/** Returns the smallest number of letters for which a part needs room: its label, and four letters of its detail. */
function lettersOf({ label, detail }: StripPart): number {
  return label.length + (detail === "" ? 0 : 4);
}

function Part({ part: { icon, colour, label, detail, tone, says, isHere, link } }: { part: StripPart }) {
  const mark = marks[tone];
  const className = classNames(styles["part"], isHere && styles["here"]);
  const content = (
    <>
      <KindTile colour={colour} icon={icon} />
      <b className={styles["label"]}>{label}</b>
      {detail !== "" && <span className={styles["detail"]}>{detail}</span>}
      {mark !== undefined && (
        <span className={classNames(styles["mark"], styles[tone])}>
          <Icon name={mark.icon} size={12} />
          <span className="visually-hidden"> {mark.words}</span>
        </span>
      )}
    </>
  );
  if (link === undefined || isHere) {
    return (
      <span className={className} title={says} {...(isHere && { "aria-current": true })}>
        {content}
      </span>
    );
  }
  return (
    <Link {...link} className={className} title={says}>
      {content}
    </Link>
  );
}
