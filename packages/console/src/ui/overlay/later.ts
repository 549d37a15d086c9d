import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { whenBack } from "../../session/reachability.ts";
import type { Begun } from "./props.ts";

/** The parts that open over a page: menus, lists of options, dialogs. They are half as large as all else that the console loads first. */
type Parts = typeof import("./parts.tsx");

let parts: Parts | undefined;
let loading: Promise<void> | undefined;
const listeners = new Set<() => void>();

/** Loads the parts that open over a page. After a failure it loads them again when the service answers again. */
export function loadParts(): Promise<void> {
  loading ??= import("./parts.tsx").then(
    (loaded) => {
      parts = loaded;
      for (const listener of listeners) listener();
    },
    () => {
      loading = undefined;
      const stop = whenBack(() => {
        stop();
        void loadParts();
      });
    },
  );
  return loading;
}

/** Calls `act` as soon as the browser has nothing else to do. */
export function whenIdle(act: () => void): void {
  // Some browsers have no idle callbacks.
  if ("requestIdleCallback" in window) requestIdleCallback(act, { timeout: 2_000 });
  else setTimeout(act, 500);
}

/** Returns the parts that open over a page; undefined until they are loaded. `isWanted`: true to load them now. */
export function useParts(isWanted: boolean): Parts | undefined {
  useEffect(() => {
    if (isWanted) void loadParts();
  }, [isWanted]);
  return useSyncExternalStore(subscribe, () => parts);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Returns properties for a button whose menu is not loaded yet, and what the user has done with it. A press counts until the focus leaves
 * the button: a menu that opened later would take the focus from a field in which the user types.
 */
export function useEarlyButton() {
  const isFocused = useRef(false);
  const [isPressed, setPressed] = useState(false);
  const loaded = useParts(false);
  const begun: Begun = isPressed ? "pressed" : isFocused.current ? "focused" : "nothing";
  const button = {
    onFocus: () => {
      isFocused.current = true;
    },
    onBlur: () => {
      isFocused.current = false;
      setPressed(false);
    },
    onClick: ({ currentTarget }: { currentTarget: HTMLElement }) => {
      // Safari does not focus a button that is pressed.
      currentTarget.focus();
      setPressed(true);
      void loadParts();
    },
  };
  return { loaded, begun, button };
}
