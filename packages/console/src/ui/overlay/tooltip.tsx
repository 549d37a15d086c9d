import * as Ariakit from "@ariakit/react";
import type { ReactElement } from "react";
import styles from "./tooltip.module.css";

/**
 * A text that appears when the user points at the content or focuses it. `isLabel`: true if the text is the content's accessible name;
 * otherwise the text is its description.
 */
export function Tooltip({
  text,
  isLabel = false,
  children,
}: {
  text: string;
  isLabel?: boolean;
  children: ReactElement<object>;
}) {
  return (
    <Ariakit.TooltipProvider timeout={300} type={isLabel ? "label" : "description"}>
      <Ariakit.TooltipAnchor render={children} {...(isLabel ? { "aria-label": text } : { "aria-description": text })} />
      <Ariakit.Tooltip className={styles["tooltip"]} unmountOnHide>
        {text}
      </Ariakit.Tooltip>
    </Ariakit.TooltipProvider>
  );
}
