"""The frame of every screen: navigation, addresses, style, guards."""
