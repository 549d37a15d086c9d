import { Suspense, useMemo } from "react";
import { prettyJson } from "../../words/pretty-json.ts";
import { visible } from "../../words/text.ts";
import { laterPart } from "../later-part.tsx";
import { CopyButton } from "../values/copy.tsx";
import styles from "./json-view.module.css";

const Viewer = laterPart(() => import("./json-viewer.tsx"));

/** Maximum length of the plain text that is shown until the viewer is loaded, in characters. */
const plainMax = 8_000;

/** A viewer for JSON of up to several megabytes. The user can fold, search and copy. `label`: its accessible name. */
export function JsonView({ text, label }: { text: string; label: string }) {
  const pretty = useMemo(() => prettyJson(text), [text]);
  return (
    <div className={styles["frame"]}>
      <Suspense
        fallback={
          <pre aria-busy className={styles["plain"]}>
            {visible(pretty.slice(0, plainMax))}
          </pre>
        }
      >
        <Viewer text={pretty} label={label} />
      </Suspense>
      <div className={styles["buttons"]}>
        <CopyButton text={pretty} what={label} />
      </div>
    </div>
  );
}
