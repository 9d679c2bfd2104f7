"""Laws of the engines compared with public measurements on real cards."""
