import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { whenBack } from "../../session/reachability.ts";
import { announce } from "../notice/announce.tsx";
import type { Begun } from "./props.ts";

/** The parts that open over a page: menus, lists of options, dialogs. They are half as large as all else that the console loads first. */
type Parts = typeof import("./parts.tsx");
/** The parts, and their state. `isLost`: true if the last attempt to load them failed. */
type State = { readonly parts: Parts | undefined; readonly isLost: boolean };

/** Pause before the parts are loaded again after a failure, in milliseconds. Each further failure doubles it, up to the longest. */
const pauseMs = { first: 2_000, longest: 60_000 };

let state: State = { parts: undefined, isLost: false };
let loading: Promise<boolean> | undefined;
let failures = 0;
let stopWaiting = () => {};
const listeners = new Set<() => void>();

function change(to: State): void {
  state = to;
  for (const listener of listeners) listener();
}

/**
 * Loads the code of dialogs and menus, which is not part of the first page. Returns false if this fails; the code is then loaded again after
 * a pause, or when the service answers again.
 */
export function loadParts(): Promise<boolean> {
  stopWaiting();
  loading ??= import("./parts.tsx").then(
    (parts) => {
      change({ parts, isLost: false });
      return true;
    },
    () => {
      loading = undefined;
      loadLater();
      change({ parts: undefined, isLost: true });
      return false;
    },
  );
  return loading;
}

function loadLater(): void {
  const load = () => void loadParts();
  const timer = setTimeout(load, Math.min(pauseMs.first * 2 ** failures++, pauseMs.longest));
  const stop = whenBack(load);
  stopWaiting = () => {
    clearTimeout(timer);
    stop();
  };
}

/** Calls `act` when the browser has nothing else to do, so that the page is not slowed down. */
export function whenIdle(act: () => void): void {
  // Some browsers have no idle callbacks.
  if ("requestIdleCallback" in window) requestIdleCallback(act, { timeout: 2_000 });
  else setTimeout(act, 500);
}

/** Returns the components for dialogs and menus; undefined until their code is loaded. `isWanted`: true to start loading now. */
export function useParts(isWanted: boolean): Parts | undefined {
  useEffect(() => {
    if (isWanted) void loadParts();
  }, [isWanted]);
  return useSyncExternalStore(subscribe, () => state.parts);
}

/** Returns true if the last attempt to load the code of dialogs and menus failed. */
export function usePartsLost(): boolean {
  return useSyncExternalStore(subscribe, () => state.isLost);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Returns properties for a button whose menu is not loaded yet, and what the user did with it. A press opens the menu later, unless the
 * focus has left the button: the menu would then take it from a field in which the user types.
 */
export function useEarlyButton() {
  const isFocused = useRef(false);
  const [isPressed, setPressed] = useState(false);
  const loaded = useParts(false);
  const begun: Begun = isPressed ? "pressed" : isFocused.current ? "focused" : "nothing";
  const press = async () => {
    if (!(await loadParts())) announce("The menu could not be loaded. Press the button again.", "bad");
  };
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
      void press();
    },
  };
  return { loaded, begun, button };
}
