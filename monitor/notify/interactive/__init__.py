"""What people say back: clicks on the buttons of a message, and what follows when nobody clicks."""
