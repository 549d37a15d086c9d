/** Paths of the sign-in with a company account. The provider knows the second and the third one. */
export const peoplePaths = {
  start: "/sign-in/start",
  callback: "/sign-in/callback",
  logout: "/sign-in/logout",
  invitation: "/sign-in/invitation",
} as const;
