import {
  type CSSProperties,
  cloneElement,
  type HTMLAttributes,
  type ReactElement,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import styles from "./tooltip.module.css";

/** Times in milliseconds after which a tooltip appears, and after which it disappears, so that the pointer can move onto it. */
const showMs = 300;
const hideMs = 120;

/** Distance of a tooltip from its content and from the edges of the window, in pixels. */
const gapPx = 6;

/**
 * A text that appears when the user points at the content or focuses it. The Escape key hides it. `isLabel`: true if the text is the
 * content's accessible name; otherwise the text is its description.
 */
export function Tooltip({
  text,
  isLabel = false,
  children,
}: {
  text: string;
  isLabel?: boolean;
  children: ReactElement<HTMLAttributes<HTMLElement>>;
}) {
  const [anchor, setAnchor] = useState<HTMLElement>();
  const timer = useRef<number>(undefined);
  const later = (ms: number, to: HTMLElement | undefined) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setAnchor(to), ms);
  };
  const hide = () => later(0, undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <>
      {cloneElement(children, {
        ...(isLabel ? { "aria-label": text } : { "aria-description": text }),
        onPointerEnter: ({ currentTarget }) => later(showMs, currentTarget),
        onPointerLeave: () => later(hideMs, undefined),
        onPointerDown: hide,
        onFocus: ({ currentTarget }) => {
          if (currentTarget.matches(":focus-visible")) later(showMs, currentTarget);
        },
        onBlur: hide,
      })}
      {anchor?.isConnected === true && (
        <Shown
          anchor={anchor}
          text={text}
          onEnter={() => clearTimeout(timer.current)}
          onLeave={() => later(hideMs, undefined)}
          onEscape={hide}
        />
      )}
    </>
  );
}

function Shown({
  anchor,
  text,
  onEnter,
  onLeave,
  onEscape,
}: {
  anchor: HTMLElement;
  text: string;
  onEnter: () => void;
  onLeave: () => void;
  onEscape: () => void;
}) {
  const own = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<CSSProperties>({ visibility: "hidden" });
  const onKey = useRef(onEscape);
  onKey.current = onEscape;
  useLayoutEffect(() => {
    const size = own.current?.getBoundingClientRect();
    if (size !== undefined) setPlace(placeOf(anchor.getBoundingClientRect(), size));
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === "Escape") onKey.current();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [anchor]);
  return createPortal(
    <div
      ref={own}
      role="tooltip"
      className={styles["tooltip"]}
      style={place}
      onPointerEnter={onEnter}
      onPointerLeave={onLeave}
    >
      {text}
    </div>,
    document.body,
  );
}

/** Returns the place of a tooltip: above the content, or below it if there is no room, and inside the window. */
function placeOf(anchor: DOMRect, size: DOMRect): CSSProperties {
  const above = anchor.top - size.height - gapPx;
  const middle = anchor.left + (anchor.width - size.width) / 2;
  return {
    top: above < gapPx ? anchor.bottom + gapPx : above,
    left: Math.max(gapPx, Math.min(middle, window.innerWidth - size.width - gapPx)),
  };
}
